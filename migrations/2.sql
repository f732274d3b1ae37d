-- step: once
CREATE TABLE ended_sessions (
  sid TEXT PRIMARY KEY NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT;
CREATE INDEX ended_sessions_expired ON ended_sessions (expires_at);
