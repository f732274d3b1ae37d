-- step: once
CREATE TABLE payment_movements (
  id TEXT PRIMARY KEY NOT NULL,
  kind TEXT NOT NULL,
  transaction_id TEXT NOT NULL,
  gateway TEXT NOT NULL,
  refund_id TEXT,
  amount INTEGER NOT NULL,
  currency TEXT NOT NULL,
  booked_at INTEGER NOT NULL,
  occurred_at INTEGER NOT NULL,
  estimated INTEGER NOT NULL DEFAULT 0 CHECK (estimated IN (0, 1))
) STRICT;
CREATE INDEX payment_movements_by_time ON payment_movements (booked_at, id);
CREATE INDEX payment_movements_by_transaction
  ON payment_movements (transaction_id, id);
CREATE TRIGGER payment_movements_no_update BEFORE UPDATE ON payment_movements
  BEGIN SELECT RAISE(ABORT, 'payment_movements is append only'); END;
CREATE TRIGGER payment_movements_no_delete BEFORE DELETE ON payment_movements
  BEGIN SELECT RAISE(ABORT, 'payment_movements is append only'); END;

-- step: for every 1000 rows of payment_transactions
-- When it was booked is not known: the gateway's time has to do.
INSERT INTO payment_movements
    (id, kind, transaction_id, gateway, amount, currency, booked_at, occurred_at, estimated)
  SELECT id || '.paid', iif(status IN ('Failed', 'Cancelled', 'Expired'), 'late_paid', 'paid'), id, gateway,
    coalesce(paid_amount, amount), coalesce(paid_currency, currency), paid_at, paid_at, 1
  FROM payment_transactions WHERE id > :after AND id <= :upto AND paid_at IS NOT NULL;
-- Of refunds that are more than was paid, only that much counts.
INSERT INTO payment_movements
    (id, kind, transaction_id, gateway, refund_id, amount, currency, booked_at, occurred_at,
      estimated)
  SELECT id || '.refunded', 'refunded', transaction_id, gateway, id, -counted, currency, updated_at, updated_at, 1
  FROM (SELECT r.id, r.transaction_id, t.gateway, r.updated_at,
      coalesce(t.paid_currency, t.currency) AS currency,
      min(r.amount, t.refunded_amount - coalesce(sum(r.amount) OVER (PARTITION BY r.transaction_id
        ORDER BY r.id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0)) AS counted
    FROM payment_refunds r JOIN payment_transactions t ON t.id = r.transaction_id
    WHERE r.transaction_id > :after AND r.transaction_id <= :upto AND r.status = 'succeeded'
      AND t.paid_at IS NOT NULL)
  WHERE counted > 0;
INSERT INTO payment_movements
    (id, kind, transaction_id, gateway, amount, currency, booked_at, occurred_at, estimated)
  SELECT min(e.id) || '.refused', 'refused_paid', e.transaction_id, e.gateway, e.amount, e.currency,
    min(e.received_at), min(e.occurred_at), 1
  FROM payment_webhook_events e
  WHERE e.transaction_id > :after AND e.transaction_id <= :upto
    AND e.outcome = 'rejected' AND e.mismatch = 1 AND e.to_status = 'Paid'
  GROUP BY e.transaction_id, e.gateway, e.amount, e.currency;
INSERT INTO payment_movements
    (id, kind, transaction_id, gateway, amount, currency, booked_at, occurred_at, estimated)
  SELECT id || '.disputed', 'disputed', transaction_id, gateway, detail ->> 'amount', detail ->> 'currency',
    created_at, created_at, 1
  FROM payment_alerts
  WHERE transaction_id > :after AND transaction_id <= :upto AND kind = 'dispute'
    AND detail ->> 'amount' IS NOT NULL;
