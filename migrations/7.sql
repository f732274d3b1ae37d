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
ALTER TABLE payment_ledger ADD COLUMN paused_at INTEGER;
ALTER TABLE payment_ledger ADD COLUMN paused_by TEXT;
-- step: once
CREATE INDEX payment_refunds_by_gateway_id
  ON payment_refunds (gateway_refund_id) WHERE gateway_refund_id IS NOT NULL;
-- step: once
CREATE TABLE payment_notes (
  id TEXT PRIMARY KEY NOT NULL,
  transaction_id TEXT NOT NULL REFERENCES payment_transactions (id),
  text TEXT NOT NULL,
  by TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX payment_notes_by_transaction ON payment_notes (transaction_id, id);
-- step: once
CREATE INDEX payment_transactions_by_need ON payment_transactions (id) WHERE alert IS NOT NULL;
-- step: once
CREATE INDEX payment_movements_by_transaction ON payment_movements (transaction_id);

-- step: for every 1000 rows of payment_transactions
-- They fold more letters into one.
REPLACE INTO payment_search (n, text) SELECT t.rowid, value ->> 1
  FROM json_each(:texts) CROSS JOIN payment_transactions t WHERE t.id = value ->> 0;

-- step: for every 1000 rows of payment_transactions
-- A dispute was an alert for each of its steps, or for each set of chargebacks. An event is named
-- by the dispute and a word, Mollie's by the payment and what there was to read: the last one knows
-- best.
INSERT INTO payment_disputes
    (id, transaction_id, dispute, part, amount, currency, out_amount, is_inquiry, read_at,
      created_at, updated_at)
  WITH told(id, transaction_id, event_id, amount, currency, at) AS (
    SELECT id, transaction_id, detail ->> 'eventId', detail ->> 'amount', detail ->> 'currency',
      created_at FROM payment_alerts
      WHERE transaction_id > :after AND transaction_id <= :upto AND kind = 'dispute'
    UNION ALL SELECT id, transaction_id, event_id, amount, currency, received_at
      FROM payment_webhook_events
      WHERE transaction_id > :after AND transaction_id <= :upto AND alert = 'dispute'),
  named AS (SELECT *, substr(event_id, 1, 3) = 'tr_' AS is_sum,
    iif(substr(event_id, 1, 3) = 'tr_', substr(event_id, 1, instr(event_id, ':') - 1),
      iif(instr(event_id, ':') = 0, event_id,
        rtrim(rtrim(event_id, replace(event_id, ':', '')), ':'))) AS dispute
    FROM told WHERE event_id IS NOT NULL AND amount IS NOT NULL),
  newest AS (SELECT *, substr(event_id, length(dispute) + 2) AS word,
    row_number() OVER (PARTITION BY transaction_id, dispute ORDER BY at DESC, id DESC) AS nth
    FROM named)
  SELECT id || '.dispute', transaction_id, dispute, iif(is_sum, NULL, dispute), amount, currency,
    iif(word = 'won' OR word LIKE 'warning%', 0, amount), word LIKE 'warning%', at, at, at
  FROM newest WHERE nth = 1;
-- Booked now: the books of days that are over stay as they were.
INSERT INTO payment_movements
    (id, kind, transaction_id, gateway, amount, currency, booked_at, occurred_at, estimated)
  SELECT transaction_id || '.disputed', iif(missing > 0, 'disputed', 'dispute_returned'),
    transaction_id, gateway, missing, currency, now, now, 1
  FROM (SELECT d.transaction_id, t.gateway, max(d.currency) AS currency, unixepoch() * 1000 AS now,
      sum(d.out_amount) - (SELECT coalesce(sum(m.amount), 0) FROM payment_movements m
        WHERE m.transaction_id = d.transaction_id AND m.kind = 'disputed') AS missing
    FROM payment_disputes d JOIN payment_transactions t ON t.id = d.transaction_id
    WHERE d.transaction_id > :after AND d.transaction_id <= :upto GROUP BY d.transaction_id)
  WHERE missing <> 0;
-- The newest open one goes on, else the newest: the others are of the past, and make room for its
-- name.
UPDATE payment_alerts SET subject = subject || ' ' || id,
    acknowledged_at = coalesce(acknowledged_at, unixepoch() * 1000),
    acknowledged_by = coalesce(acknowledged_by, 'gateway')
  WHERE kind = 'dispute' AND transaction_id > :after AND transaction_id <= :upto AND id NOT IN (
    SELECT first_value(a.id) OVER (PARTITION BY d.id
      ORDER BY a.acknowledged_at IS NULL DESC, a.created_at DESC, a.id DESC)
    FROM payment_alerts a JOIN payment_disputes d ON d.transaction_id = a.transaction_id
      AND substr(a.detail ->> 'eventId' || ':', 1, length(d.dispute) + 1) = d.dispute || ':'
    WHERE a.kind = 'dispute' AND a.transaction_id > :after AND a.transaction_id <= :upto);
UPDATE payment_alerts SET subject = a.transaction_id || ' ' || d.dispute
  FROM payment_alerts a JOIN payment_disputes d ON d.transaction_id = a.transaction_id
    AND substr(a.detail ->> 'eventId' || ':', 1, length(d.dispute) + 1) = d.dispute || ':'
  WHERE payment_alerts.id = a.id AND a.kind = 'dispute' AND a.subject NOT LIKE '% ' || a.id
    AND a.transaction_id > :after AND a.transaction_id <= :upto;
UPDATE payment_transactions SET alert = (SELECT json_object('id', a.id, 'kind', 'dispute')
    FROM payment_alerts a WHERE a.transaction_id = payment_transactions.id AND a.kind = 'dispute'
      AND a.acknowledged_at IS NULL ORDER BY a.id LIMIT 1)
  WHERE id > :after AND id <= :upto AND alert ->> 'kind' = 'dispute';
