-- From schema 1 to schema 2: what was paid is stored beside what was requested, and the hash of a
-- request does not contain the payer's phone any more.

-- step: once
ALTER TABLE payment_transactions ADD COLUMN paid_amount INTEGER;
ALTER TABLE payment_transactions ADD COLUMN paid_currency TEXT;

-- step: for every 1000 rows of payment_transactions
-- As the gateway reported it. Events are kept for 90 days; without one, it is what was requested.
-- The plus keeps SQLite from using the index of outcomes, in which nearly all events are `applied`.
UPDATE payment_transactions AS t SET
  paid_amount = COALESCE((SELECT e.amount FROM payment_webhook_events e
    WHERE e.transaction_id = t.id AND e.to_status = 'Paid' AND +e.outcome = 'applied'), t.amount),
  paid_currency = COALESCE((SELECT e.currency FROM payment_webhook_events e
    WHERE e.transaction_id = t.id AND e.to_status = 'Paid' AND +e.outcome = 'applied'), t.currency)
WHERE t.id > :after AND t.id <= :upto AND t.paid_at IS NOT NULL AND t.paid_amount IS NULL;

-- The refunded amount was limited by what was requested. Now it is by what was paid.
UPDATE payment_transactions SET refunded_amount =
  iif(status = 'Refunded', MAX(0, paid_amount), MIN(refunded_amount, MAX(0, paid_amount)))
WHERE id > :after AND id <= :upto AND refunded_amount > 0 AND paid_amount <> amount;

-- Stored events are delivered unchanged. Without a paid amount, they mean the requested one.
UPDATE payment_outbox AS o SET payload = json_set(payload,
  '$.transaction.paid_amount', t.paid_amount, '$.transaction.paid_currency', t.paid_currency)
FROM payment_transactions t
WHERE t.id > :after AND t.id <= :upto AND t.id = o.transaction_id
  AND (t.paid_amount <> t.amount OR t.paid_currency <> t.currency)
  AND payload ->> '$.transaction.paid_at' IS NOT NULL
  AND payload ->> '$.transaction.paid_amount' IS NULL;

-- With the old hash, the same request would count as another one, and a phone could be found by
-- trying all numbers. `request` is stored without it.
UPDATE payment_transactions AS t SET request_hash = h.value
FROM json_each(:request_hashes) h
WHERE t.id > :after AND t.id <= :upto AND t.id = h.key;
