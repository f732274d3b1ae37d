-- step: once
ALTER TABLE payment_ledger RENAME TO payment_ledger_2;
CREATE TABLE payment_ledger (
  one INTEGER PRIMARY KEY NOT NULL CHECK (one = 1),
  batch INTEGER NOT NULL,
  installation TEXT NOT NULL
) STRICT;
-- Of the oldest payment: a backup of before the upgrade gets the same one.
INSERT INTO payment_ledger (one, batch, installation)
  SELECT one, batch,
    coalesce((SELECT min(id) FROM payment_transactions), lower(hex(randomblob(16))))
  FROM payment_ledger_2;
DROP TABLE payment_ledger_2;

ALTER TABLE payment_transactions ADD COLUMN installation TEXT;

CREATE TABLE payment_event_keys (
  gateway TEXT NOT NULL,
  event_id TEXT NOT NULL,
  received_at INTEGER NOT NULL,
  UNIQUE (gateway, event_id)
) STRICT;
