-- From schema 4 to schema 5: further idempotency keys of a payment, and whether it was begun with
-- `repeat`.

-- step: once
ALTER TABLE payment_transactions ADD COLUMN
  is_repeat INTEGER NOT NULL DEFAULT 0 CHECK (is_repeat IN (0, 1));

CREATE TABLE IF NOT EXISTS payment_charge_keys (
  id TEXT PRIMARY KEY NOT NULL,
  gateway TEXT NOT NULL,
  idempotency_key TEXT NOT NULL,
  transaction_id TEXT NOT NULL REFERENCES payment_transactions (id),
  UNIQUE (gateway, idempotency_key)
) STRICT;

CREATE INDEX IF NOT EXISTS payment_charge_keys_by_transaction
  ON payment_charge_keys (transaction_id);
