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

ALTER TABLE payment_transactions ADD COLUMN refund_revision INTEGER NOT NULL DEFAULT 0;
ALTER TABLE payment_transactions ADD COLUMN refunds_read_at INTEGER;
ALTER TABLE payment_webhook_events ADD COLUMN refunds TEXT
  CHECK (refunds IS NULL OR json_valid(refunds));
ALTER TABLE payment_refunds ADD COLUMN asked_by TEXT;
ALTER TABLE payment_refunds DROP COLUMN refunded_before;
DROP INDEX payment_refunds_under_way;
CREATE UNIQUE INDEX payment_refunds_under_way
  ON payment_refunds (transaction_id) WHERE status = 'claimed';

-- step: for every 1000 rows of payment_transactions
UPDATE payment_refunds SET asked_by = (SELECT a.subject FROM payment_audit a
    WHERE a.transaction_id = payment_refunds.transaction_id AND a.about = payment_refunds.id
      AND a.action IN ('refund', 'late_refund'))
  WHERE transaction_id > :after AND transaction_id <= :upto;
-- What was refunded at the gateway itself was known only as a part of the sum.
INSERT INTO payment_refunds
    (id, transaction_id, amount, reason, status, created_at, updated_at)
  SELECT id, id, missing, 'Made at the gateway.', 'succeeded', updated_at, updated_at
  FROM (SELECT t.id, t.updated_at, t.refunded_amount - (SELECT coalesce(sum(r.amount), 0)
      FROM payment_refunds r WHERE r.transaction_id = t.id AND r.status = 'succeeded') AS missing
    FROM payment_transactions t
    WHERE t.id > :after AND t.id <= :upto AND t.refunded_amount > 0)
  WHERE missing > 0;
-- A refund that was reported before its payment: once it is paid, the gateway is asked.
UPDATE payment_transactions SET refunds_read_at = 0
  WHERE id > :after AND id <= :upto AND status IN ('Pending', 'Paid') AND EXISTS (SELECT 1
    FROM payment_webhook_events e WHERE e.transaction_id = payment_transactions.id
      AND e.outcome = 'illegal' AND e.to_status IN ('Refunded', 'PartiallyRefunded'));
-- Money that came late was known only to its alert.
UPDATE payment_transactions SET paid_at = a.created_at,
    paid_amount = a.detail ->> 'amount', paid_currency = a.detail ->> 'currency'
  FROM payment_alerts a
  WHERE payment_transactions.id > :after AND payment_transactions.id <= :upto
    AND a.transaction_id = payment_transactions.id AND a.kind = 'late_payment'
    AND payment_transactions.paid_at IS NULL;
