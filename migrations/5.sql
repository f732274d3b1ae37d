-- step: once
ALTER TABLE payment_transactions ADD COLUMN last_check_at INTEGER;
ALTER TABLE payment_transactions ADD COLUMN last_check_status TEXT;
ALTER TABLE payment_transactions ADD COLUMN id_end TEXT GENERATED ALWAYS AS (lower(
    substr(id, -1, 1) || substr(id, -2, 1) || substr(id, -3, 1) || substr(id, -4, 1) ||
    substr(id, -5, 1) || substr(id, -6, 1) || substr(id, -7, 1) || substr(id, -8, 1))) VIRTUAL;
ALTER TABLE payment_transactions ADD COLUMN gateway_id_end TEXT GENERATED ALWAYS AS (lower(
    substr(gateway_transaction_id, -1, 1) || substr(gateway_transaction_id, -2, 1) ||
    substr(gateway_transaction_id, -3, 1) || substr(gateway_transaction_id, -4, 1) ||
    substr(gateway_transaction_id, -5, 1) || substr(gateway_transaction_id, -6, 1) ||
    substr(gateway_transaction_id, -7, 1) || substr(gateway_transaction_id, -8, 1))) VIRTUAL;
CREATE TABLE payment_search (
  n INTEGER PRIMARY KEY NOT NULL,
  text TEXT NOT NULL
) STRICT;

-- step: once
CREATE INDEX payment_transactions_by_id_end ON payment_transactions (id_end);
-- step: once
CREATE INDEX payment_transactions_by_gateway_id_end
  ON payment_transactions (gateway_id_end);
-- step: once
CREATE INDEX payment_transactions_by_amount
  ON payment_transactions (currency, amount);
-- step: once
CREATE INDEX payment_transactions_by_other_amount
  ON payment_transactions (paid_currency, paid_amount)
  WHERE paid_amount <> amount OR paid_currency <> currency;
-- step: once
CREATE INDEX payment_transactions_by_paid
  ON payment_transactions (paid_at) WHERE paid_at IS NOT NULL;
-- step: once
CREATE INDEX payment_transactions_by_updated ON payment_transactions (updated_at);

-- step: for every 1000 rows of payment_transactions
REPLACE INTO payment_search (n, text) SELECT t.rowid, value ->> 1
  FROM json_each(:texts) CROSS JOIN payment_transactions t WHERE t.id = value ->> 0;
