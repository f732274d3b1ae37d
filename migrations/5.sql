-- From schema 4 to schema 5: further idempotency keys of a payment, and whether it was begun with
-- `repeat`; a webhook that was unreadable; its open alert; orders are found across gateways.

-- step: once
ALTER TABLE payment_transactions ADD COLUMN
  is_repeat INTEGER NOT NULL DEFAULT 0 CHECK (is_repeat IN (0, 1));
ALTER TABLE payment_transactions ADD COLUMN unreadable_event TEXT;

CREATE TABLE IF NOT EXISTS payment_charge_keys (
  id TEXT PRIMARY KEY NOT NULL,
  gateway TEXT NOT NULL,
  idempotency_key TEXT NOT NULL,
  transaction_id TEXT NOT NULL REFERENCES payment_transactions (id),
  UNIQUE (gateway, idempotency_key)
) STRICT;

CREATE INDEX IF NOT EXISTS payment_charge_keys_by_transaction
  ON payment_charge_keys (transaction_id);

-- step: once
ALTER TABLE payment_alerts ADD COLUMN gateway_reference TEXT;
ALTER TABLE payment_transactions ADD COLUMN alert TEXT CHECK (alert IS NULL OR json_valid(alert));

-- The most urgent first, as ALERT_KINDS has them.
UPDATE payment_transactions AS t SET alert = (SELECT json_object('id', a.id, 'kind', a.kind)
  FROM payment_alerts a WHERE a.transaction_id = t.id AND a.acknowledged_at IS NULL
    AND a.kind NOT IN ('listener_dead', 'delivery_dead')
  ORDER BY instr('late_payment amount_mismatch refund_failed unsettled refund_unsettled unreadable',
    a.kind), a.id LIMIT 1)
WHERE id IN (SELECT transaction_id FROM payment_alerts WHERE acknowledged_at IS NULL);

-- step: once
DROP INDEX IF EXISTS payment_transactions_by_reference;
CREATE INDEX payment_transactions_by_reference
  ON payment_transactions (reference, gateway, id);
