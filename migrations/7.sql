-- step: once
ALTER TABLE payment_webhook_events ADD COLUMN paid_amount INTEGER;
ALTER TABLE payment_webhook_events ADD COLUMN disputes TEXT
  CHECK (disputes IS NULL OR json_valid(disputes));
CREATE TABLE payment_disputes (
  id TEXT PRIMARY KEY NOT NULL,
  transaction_id TEXT NOT NULL REFERENCES payment_transactions (id),
  dispute TEXT NOT NULL,
  part TEXT,
  amount INTEGER NOT NULL,
  currency TEXT NOT NULL,
  out_amount INTEGER NOT NULL,
  is_inquiry INTEGER NOT NULL CHECK (is_inquiry IN (0, 1)),
  outcome TEXT,
  ended_at INTEGER,
  read_at INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX payment_disputes_by_transaction ON payment_disputes (transaction_id, id);
-- step: once
CREATE INDEX payment_refunds_by_gateway_id
  ON payment_refunds (gateway_refund_id) WHERE gateway_refund_id IS NOT NULL;
-- step: once
CREATE INDEX payment_movements_by_transaction ON payment_movements (transaction_id);

-- step: for every 1000 rows of payment_transactions
-- They fold more letters into one.
REPLACE INTO payment_search (n, text) SELECT t.rowid, value ->> 1
  FROM json_each(:texts) CROSS JOIN payment_transactions t WHERE t.id = value ->> 0;
