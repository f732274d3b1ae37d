-- From schema 1 to schema 2: what was paid is stored beside what was asked for, and the hash of a
-- request is one without the payer's phone.

-- step: once
ALTER TABLE payment_transactions ADD COLUMN paid_amount INTEGER;
ALTER TABLE payment_transactions ADD COLUMN paid_currency TEXT;

-- step: for every 1000 rows of payment_transactions
-- As the gateway told it. Events are kept for 90 days: without one, what was asked for. The plus
-- keeps SQLite from the index of outcomes, in which nearly all events are applied.
UPDATE payment_transactions AS t SET
  paid_amount = COALESCE((SELECT e.amount FROM payment_webhook_events e
    WHERE e.transaction_id = t.id AND e.to_status = 'Paid' AND +e.outcome = 'applied'), t.amount),
  paid_currency = COALESCE((SELECT e.currency FROM payment_webhook_events e
    WHERE e.transaction_id = t.id AND e.to_status = 'Paid' AND +e.outcome = 'applied'), t.currency)
WHERE t.id > :after AND t.id <= :upto AND t.paid_at IS NOT NULL AND t.paid_amount IS NULL;

-- What went back was counted up to what was asked for.
UPDATE payment_transactions SET refunded_amount =
  iif(status = 'Refunded', MAX(0, paid_amount), MIN(refunded_amount, MAX(0, paid_amount)))
WHERE id > :after AND id <= :upto AND refunded_amount > 0 AND paid_amount <> amount;

-- Stored events are told as they stand. Where nothing stands, what was asked for was paid.
UPDATE payment_outbox AS o SET payload = json_set(payload,
  '$.transaction.paid_amount', t.paid_amount, '$.transaction.paid_currency', t.paid_currency)
FROM payment_transactions t
WHERE t.id > :after AND t.id <= :upto AND t.id = o.transaction_id
  AND (t.paid_amount <> t.amount OR t.paid_currency <> t.currency)
  AND payload ->> '$.transaction.paid_at' IS NOT NULL
  AND payload ->> '$.transaction.paid_amount' IS NULL;

-- Made with the phone, the same request would be taken for another one, and a phone can be found by
-- trying all of them. `request` is stored without it.
UPDATE payment_transactions AS t SET request_hash = h.value
FROM json_each(:request_hashes) h
WHERE t.id > :after AND t.id <= :upto AND t.id = h.key;
