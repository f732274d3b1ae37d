-- step: once
CREATE TABLE ended_sessions (
  sid TEXT PRIMARY KEY NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT;
CREATE INDEX ended_sessions_expired ON ended_sessions (expires_at);

CREATE TABLE payment_audit (
  id TEXT PRIMARY KEY NOT NULL,
  at INTEGER NOT NULL,
  action TEXT NOT NULL,
  subject TEXT NOT NULL,
  transaction_id TEXT,
  about TEXT,
  amount INTEGER,
  detail TEXT
) STRICT;

CREATE INDEX payment_audit_by_transaction ON payment_audit (transaction_id, id);

CREATE TRIGGER payment_audit_no_update BEFORE UPDATE ON payment_audit
  BEGIN SELECT RAISE(ABORT, 'payment_audit is append only'); END;
CREATE TRIGGER payment_audit_no_delete BEFORE DELETE ON payment_audit
  BEGIN SELECT RAISE(ABORT, 'payment_audit is append only'); END;
