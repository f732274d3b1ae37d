-- From schema 3 to schema 4: the outbox accepts events of any type, such as AlertRaised. SQLite
-- cannot remove a CHECK from a column, so the rows move to a new table, and with them the
-- deliveries, which refer to it. In parts, since a server ends a transaction that takes longer than
-- some seconds.

-- step: once
DROP INDEX IF EXISTS payment_outbox_by_transaction;
DROP INDEX IF EXISTS payment_outbox_due;
DROP INDEX IF EXISTS payment_deliveries_due;
DROP INDEX IF EXISTS payment_deliveries_dead;
ALTER TABLE payment_outbox RENAME TO payment_outbox_3;
ALTER TABLE payment_deliveries RENAME TO payment_deliveries_3;

CREATE TABLE payment_outbox (
  id TEXT PRIMARY KEY NOT NULL,
  transaction_id TEXT NOT NULL REFERENCES payment_transactions (id),
  type TEXT NOT NULL,
  payload TEXT NOT NULL CHECK (json_valid(payload)),
  correlation_id TEXT,
  created_at INTEGER NOT NULL,
  leased_until INTEGER,
  attempts INTEGER NOT NULL DEFAULT 0,
  next_attempt_at INTEGER NOT NULL,
  done_at INTEGER
) STRICT;

CREATE TABLE payment_deliveries (
  id TEXT PRIMARY KEY NOT NULL,
  outbox_id TEXT NOT NULL REFERENCES payment_outbox (id),
  endpoint TEXT NOT NULL,
  status TEXT NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'delivered', 'dead')),
  attempts INTEGER NOT NULL DEFAULT 0,
  leased_until INTEGER,
  next_attempt_at INTEGER NOT NULL,
  last_status INTEGER,
  last_error TEXT,
  created_at INTEGER NOT NULL,
  delivered_at INTEGER,
  UNIQUE (outbox_id, endpoint)
) STRICT;

CREATE INDEX payment_outbox_by_transaction ON payment_outbox (transaction_id, id);
CREATE INDEX payment_outbox_due
  ON payment_outbox (next_attempt_at) WHERE done_at IS NULL;
CREATE INDEX payment_deliveries_due
  ON payment_deliveries (next_attempt_at) WHERE status = 'pending';
CREATE INDEX payment_deliveries_dead ON payment_deliveries (id) WHERE status = 'dead';

-- step: for every 1000 rows of payment_outbox_3
-- With their rowids: the events of a payment are listed in that order.
INSERT INTO payment_outbox (rowid, id, transaction_id, type, payload, correlation_id, created_at,
    leased_until, attempts, next_attempt_at, done_at)
  SELECT rowid, id, transaction_id, type, payload, correlation_id, created_at,
    leased_until, attempts, next_attempt_at, done_at
  FROM payment_outbox_3 WHERE id > :after AND id <= :upto;

INSERT INTO payment_deliveries (rowid, id, outbox_id, endpoint, status, attempts, leased_until,
    next_attempt_at, last_status, last_error, created_at, delivered_at)
  SELECT rowid, id, outbox_id, endpoint, status, attempts, leased_until,
    next_attempt_at, last_status, last_error, created_at, delivered_at
  FROM payment_deliveries_3 WHERE outbox_id > :after AND outbox_id <= :upto;

-- Dropping a full table takes as long as it is large.
DELETE FROM payment_deliveries_3 WHERE outbox_id > :after AND outbox_id <= :upto;
DELETE FROM payment_outbox_3 WHERE id > :after AND id <= :upto;

-- step: once
DROP TABLE payment_deliveries_3;
DROP TABLE payment_outbox_3;
