-- The payments' database, for libSQL (SQLite). Boards are not in it: each repository object has a
-- database of its own.
--
-- The whole schema, for an empty database. Every statement may run again, and makes what is
-- missing; migrations/ upgrade a database of an older schema. Times are integers, milliseconds
-- since 1970. Amounts are integers in minor units. Ids are ULIDs, so ordering by id is ordering by
-- time. STRICT, because a text in an amount column must fail, not be kept. There is a CHECK only
-- for what the public contract fixes: SQLite cannot change one without copying the table, and one
-- that refuses what a gateway really sends would lose a payment.

-- The number of the schema, in one row. A ledger that knows another number writes nothing.
CREATE TABLE IF NOT EXISTS payment_schema (
  one INTEGER PRIMARY KEY NOT NULL CHECK (one = 1),
  version INTEGER NOT NULL,
  -- Steps of the migration to the next number that are done; 0: none is under way.
  step INTEGER NOT NULL DEFAULT 0,
  -- The last id that a step in parts has passed, so that a migration goes on where it ended.
  passed TEXT NOT NULL DEFAULT ''
) STRICT;

-- A database with payments and without a number was made before 0.1.0: it gets none here.
INSERT INTO payment_schema (one, version)
SELECT 1, 7 WHERE NOT EXISTS (SELECT 1 FROM sqlite_master WHERE name = 'payment_transactions')
ON CONFLICT DO NOTHING;

-- The number of saves: every save compares it with what was loaded. If they differ, the save sets
-- it to NULL, and fails as a whole.
CREATE TABLE IF NOT EXISTS payment_ledger (
  one INTEGER PRIMARY KEY NOT NULL CHECK (one = 1),
  batch INTEGER NOT NULL,
  -- The database's own id. Our ids at a gateway are derived in its namespace: two installations
  -- that share an account never share a payment. A backup keeps it, a copy draws another one.
  installation TEXT NOT NULL,
  -- Since when nothing new is begun, and who asked for that. NULL: payments are not paused. It is
  -- in this row because each save compares it: no charge that was decided before a pause is stored
  -- after it.
  paused_at INTEGER,
  paused_by TEXT
) STRICT;

INSERT INTO payment_ledger (one, batch, installation) VALUES (1, 0, lower(hex(randomblob(16))))
ON CONFLICT DO NOTHING;

-- One row for each attempt to be paid. It is stored before the gateway is called, so that a charge
-- can be found after a crash.
CREATE TABLE IF NOT EXISTS payment_transactions (
  id TEXT PRIMARY KEY NOT NULL,
  -- Key of the configuration, not the driver's name: two accounts may share one driver.
  gateway TEXT NOT NULL,
  -- The host application's id of what is paid. Not unique: an order may be tried again.
  reference TEXT NOT NULL,
  attempt INTEGER NOT NULL DEFAULT 1 CHECK (attempt >= 1),
  -- Its id at the gateway; NULL until the gateway has answered.
  gateway_transaction_id TEXT,
  -- Our id for it at the gateway. It is derived, so that a repeated call names the same payment.
  external_reference_id TEXT,
  -- From the caller, and a hash of the request without the payer's phone: the same key with another
  -- request is refused.
  idempotency_key TEXT,
  request_hash TEXT,
  status TEXT NOT NULL DEFAULT 'Pending' CHECK (status IN
    ('Pending', 'Paid', 'Failed', 'Cancelled', 'Expired', 'Refunded', 'PartiallyRefunded')),
  -- What was requested.
  amount INTEGER NOT NULL CHECK (amount > 0),
  currency TEXT NOT NULL CHECK (length(currency) = 3),
  -- In the currency that was paid. The ledger keeps it at or below what was paid, whatever the
  -- gateway reports.
  refunded_amount INTEGER NOT NULL DEFAULT 0 CHECK (refunded_amount >= 0),
  description TEXT,
  metadata TEXT CHECK (metadata IS NULL OR json_valid(metadata)),
  -- The charge as it was requested, without the payer's phone: for PaymentInitiated, and for a
  -- repeated call when the gateway's answer was lost.
  request TEXT CHECK (request IS NULL OR json_valid(request)),
  -- Where the payer was sent. Only the first answer of some gateways holds it, so it is kept.
  redirect_url TEXT,
  -- The whole answer to the charge: a repeated request gets it again.
  charge_answer TEXT CHECK (charge_answer IS NULL OR json_valid(charge_answer)),
  expires_at INTEGER,
  -- The call that charges it at the gateway, and until when the same request must wait; 0: nothing
  -- was sent to the gateway.
  called_by TEXT,
  called_until INTEGER,
  -- When the sweeper checks it with the gateway next; NULL: nothing is open.
  next_check_at INTEGER,
  correlation_id TEXT,
  -- The PaymentError of a failure, as JSON.
  error TEXT CHECK (error IS NULL OR json_valid(error)),
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  paid_at INTEGER,
  -- What was paid, as the gateway reported it. It may differ from what was requested. NULL until
  -- then. No CHECK: whatever a gateway reports is kept.
  paid_amount INTEGER,
  paid_currency TEXT,
  -- Begun with `repeat`: on purpose another payment of an order that may be paid.
  is_repeat INTEGER NOT NULL DEFAULT 0 CHECK (is_repeat IN (0, 1)),
  -- The first webhook about it that was genuine and could not be read: the second raises an alert.
  unreadable_event TEXT,
  -- Its most urgent open alert, as `{"id", "kind"}`: whoever reads the payment sees it, too.
  alert TEXT CHECK (alert IS NULL OR json_valid(alert)),
  -- The installation that began it, where it told its gateway. Of another one, it is never sent,
  -- checked or cancelled here. NULL: begun before schema 3, whose requests must stay as they were.
  installation TEXT,
  -- Rises with each change of refunded_amount, so that of two events the later one is known.
  refund_revision INTEGER NOT NULL DEFAULT 0,
  -- When the gateway had what is stored of its refunds: an older report of them changes nothing.
  refunds_read_at INTEGER,
  -- When its gateway was last asked about it, and the status that it reported, `unknown` or
  -- `unreachable`: a sweep that changed nothing is seen, too.
  last_check_at INTEGER,
  last_check_status TEXT,
  -- The last eight characters of both ids, the last one first: an id is found by its end, too.
  id_end TEXT GENERATED ALWAYS AS (lower(
    substr(id, -1, 1) || substr(id, -2, 1) || substr(id, -3, 1) || substr(id, -4, 1) ||
    substr(id, -5, 1) || substr(id, -6, 1) || substr(id, -7, 1) || substr(id, -8, 1))) VIRTUAL,
  gateway_id_end TEXT GENERATED ALWAYS AS (lower(
    substr(gateway_transaction_id, -1, 1) || substr(gateway_transaction_id, -2, 1) ||
    substr(gateway_transaction_id, -3, 1) || substr(gateway_transaction_id, -4, 1) ||
    substr(gateway_transaction_id, -5, 1) || substr(gateway_transaction_id, -6, 1) ||
    substr(gateway_transaction_id, -7, 1) || substr(gateway_transaction_id, -8, 1))) VIRTUAL
) STRICT;

-- Each id is unique within its gateway, and only looked up there. NULLs do not collide.
CREATE UNIQUE INDEX IF NOT EXISTS payment_transactions_by_gateway_id
  ON payment_transactions (gateway, gateway_transaction_id);
CREATE UNIQUE INDEX IF NOT EXISTS payment_transactions_by_external_reference
  ON payment_transactions (gateway, external_reference_id);
CREATE UNIQUE INDEX IF NOT EXISTS payment_transactions_by_idempotency_key
  ON payment_transactions (gateway, idempotency_key);
-- Matching by reference takes the newest row without a gateway id; counting attempts takes all. It
-- begins with the reference, since an order may be paid at several gateways.
CREATE INDEX IF NOT EXISTS payment_transactions_by_reference
  ON payment_transactions (reference, gateway, id);
-- Most payments are Paid, and are found without it: with them, each would cost one more page.
CREATE INDEX IF NOT EXISTS payment_transactions_by_status_not_paid
  ON payment_transactions (status, id) WHERE status <> 'Paid';
-- Small, however many transactions there are: it has only the open ones.
CREATE INDEX IF NOT EXISTS payment_transactions_due
  ON payment_transactions (next_check_at) WHERE next_check_at IS NOT NULL;

-- What a person should look at.
CREATE INDEX IF NOT EXISTS payment_transactions_by_need
  ON payment_transactions (id) WHERE alert IS NOT NULL;

CREATE INDEX IF NOT EXISTS payment_transactions_by_id_end ON payment_transactions (id_end);
CREATE INDEX IF NOT EXISTS payment_transactions_by_gateway_id_end
  ON payment_transactions (gateway_id_end);
CREATE INDEX IF NOT EXISTS payment_transactions_by_amount
  ON payment_transactions (currency, amount);
-- It has only what came in as another amount than was requested.
CREATE INDEX IF NOT EXISTS payment_transactions_by_other_amount
  ON payment_transactions (paid_currency, paid_amount)
  WHERE paid_amount <> amount OR paid_currency <> currency;
CREATE INDEX IF NOT EXISTS payment_transactions_by_paid
  ON payment_transactions (paid_at) WHERE paid_at IS NOT NULL;
CREATE INDEX IF NOT EXISTS payment_transactions_by_updated ON payment_transactions (updated_at);

-- What a payment is found by, folded (worker/payments/domain/fold.ts). Beside it and not in it: a
-- search that finds nothing reads all of these, and nothing else. No payment is ever deleted, so
-- its rowid stays, in a restored backup, too.
CREATE TABLE IF NOT EXISTS payment_search (
  -- The rowid of its payment.
  n INTEGER PRIMARY KEY NOT NULL,
  text TEXT NOT NULL
) STRICT;

-- Further idempotency keys of a payment: it was open when it was charged again under them. Their
-- callers get this payment from then on, also when it has ended.
CREATE TABLE IF NOT EXISTS payment_charge_keys (
  id TEXT PRIMARY KEY NOT NULL,
  gateway TEXT NOT NULL,
  idempotency_key TEXT NOT NULL,
  transaction_id TEXT NOT NULL REFERENCES payment_transactions (id),
  UNIQUE (gateway, idempotency_key)
) STRICT;

CREATE INDEX IF NOT EXISTS payment_charge_keys_by_transaction
  ON payment_charge_keys (transaction_id);

-- Every event of the gateways, once, so that a repeated webhook is harmless. It is written in the
-- same transaction as the change that it causes, so that neither exists alone.
CREATE TABLE IF NOT EXISTS payment_webhook_events (
  -- Generated for each call and kept for its retries: a batch whose outcome is unknown is sent
  -- again, finds its own id, and does not take itself for a duplicate.
  id TEXT PRIMARY KEY NOT NULL,
  gateway TEXT NOT NULL,
  event_id TEXT NOT NULL,
  -- The ids of the event. A parked event is matched by them when its transaction appears.
  gateway_transaction_id TEXT,
  external_reference_id TEXT,
  reference TEXT,
  -- NULL while parked.
  transaction_id TEXT REFERENCES payment_transactions (id),
  from_status TEXT,
  to_status TEXT NOT NULL,
  -- What the gateway reported, whatever it is: the ledger compares it with the transaction.
  amount INTEGER NOT NULL,
  currency TEXT NOT NULL,
  -- The policy for a mismatch when the event came: a parked event keeps it.
  on_mismatch TEXT NOT NULL DEFAULT 'log' CHECK (on_mismatch IN ('log', 'reject')),
  -- Paid with another amount or currency than was requested.
  mismatch INTEGER NOT NULL DEFAULT 0 CHECK (mismatch IN (0, 1)),
  outcome TEXT NOT NULL CHECK (outcome IN
    ('applied', 'unchanged', 'illegal', 'rejected', 'parked', 'late_payment')),
  -- The kind of the alert that it raises. Such an event does not change its payment.
  alert TEXT,
  error TEXT CHECK (error IS NULL OR json_valid(error)),
  -- What the gateway sent, as JSON. Secrets and the payer's own data are masked.
  raw TEXT,
  correlation_id TEXT,
  -- Of the event, by the gateway's clock; received_at is by ours.
  occurred_at INTEGER NOT NULL,
  received_at INTEGER NOT NULL,
  -- All refunds of its payment, as the driver read them then.
  refunds TEXT CHECK (refunds IS NULL OR json_valid(refunds)),
  -- What was paid in all, where the event tells of it only together with what became of it.
  paid_amount INTEGER,
  -- The disputes that the driver read then.
  disputes TEXT CHECK (disputes IS NULL OR json_valid(disputes)),
  UNIQUE (gateway, event_id)
) STRICT;

CREATE INDEX IF NOT EXISTS payment_webhook_events_by_transaction
  ON payment_webhook_events (transaction_id, id);
CREATE INDEX IF NOT EXISTS payment_webhook_events_by_outcome
  ON payment_webhook_events (outcome, id);
-- For a charge that has just got its gateway id: its webhook may have been faster than the answer.
CREATE INDEX IF NOT EXISTS payment_webhook_events_parked
  ON payment_webhook_events (gateway, gateway_transaction_id) WHERE outcome = 'parked';
-- Other systems may use the same account of a gateway, and all of their events are parked.
CREATE INDEX IF NOT EXISTS payment_webhook_events_parked_by_external_reference
  ON payment_webhook_events (gateway, external_reference_id) WHERE outcome = 'parked';
CREATE INDEX IF NOT EXISTS payment_webhook_events_parked_by_reference
  ON payment_webhook_events (gateway, reference) WHERE outcome = 'parked';
-- Events are kept for 90 days.
CREATE INDEX IF NOT EXISTS payment_webhook_events_by_age
  ON payment_webhook_events (received_at);

-- What is left of older events: a repeated webhook is known for as long as its key is kept. Keys
-- come in the order of their age, so the oldest have the lowest rowids.
CREATE TABLE IF NOT EXISTS payment_event_keys (
  gateway TEXT NOT NULL,
  event_id TEXT NOT NULL,
  received_at INTEGER NOT NULL,
  UNIQUE (gateway, event_id)
) STRICT;

-- Refunds: those that were made at the gateway itself, too. The row of one that was asked for here
-- is claimed before the gateway is called: after a crash the refund can be checked, and is never
-- made a second time. What was refunded is the sum of those that succeeded.
CREATE TABLE IF NOT EXISTS payment_refunds (
  id TEXT PRIMARY KEY NOT NULL,
  transaction_id TEXT NOT NULL REFERENCES payment_transactions (id),
  amount INTEGER NOT NULL CHECK (amount > 0),
  reason TEXT NOT NULL,
  -- `claimed`: also while the outcome is unknown, until the sweeper finds it out. `accepted`: the
  -- gateway will report later whether the money was sent.
  status TEXT NOT NULL DEFAULT 'claimed'
    CHECK (status IN ('claimed', 'accepted', 'succeeded', 'failed')),
  -- Its id at the gateway.
  gateway_refund_id TEXT,
  idempotency_key TEXT,
  -- NULL: it was made at the gateway itself.
  request_hash TEXT,
  correlation_id TEXT,
  error TEXT CHECK (error IS NULL OR json_valid(error)),
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  -- The subject that asked for it, for its alerts.
  asked_by TEXT
) STRICT;

CREATE INDEX IF NOT EXISTS payment_refunds_by_transaction ON payment_refunds (transaction_id, id);
-- A gateway's settlement names a refund, and not its payment.
CREATE INDEX IF NOT EXISTS payment_refunds_by_gateway_id
  ON payment_refunds (gateway_refund_id) WHERE gateway_refund_id IS NOT NULL;
-- Two calls for one transaction at the same time: nobody would know which of them was made.
CREATE UNIQUE INDEX IF NOT EXISTS payment_refunds_under_way
  ON payment_refunds (transaction_id) WHERE status = 'claimed';
CREATE UNIQUE INDEX IF NOT EXISTS payment_refunds_by_idempotency_key
  ON payment_refunds (transaction_id, idempotency_key);

-- What a payer asks back through the bank, as the gateway had it when it was last read: a dispute,
-- or one of the chargebacks that are one dispute.
CREATE TABLE IF NOT EXISTS payment_disputes (
  id TEXT PRIMARY KEY NOT NULL,
  transaction_id TEXT NOT NULL REFERENCES payment_transactions (id),
  -- The gateway's id of the dispute, which is one alert.
  dispute TEXT NOT NULL,
  -- The gateway's id of this part of it. NULL: of before schema 7, when only the sum was kept.
  part TEXT,
  amount INTEGER NOT NULL,
  currency TEXT NOT NULL,
  -- What of it the books have as taken by the bank.
  out_amount INTEGER NOT NULL,
  -- The bank only asks: no money is out.
  is_inquiry INTEGER NOT NULL CHECK (is_inquiry IN (0, 1)),
  -- How it ended, and when, by the gateway's clock where it tells that. NULL: it has not.
  outcome TEXT,
  ended_at INTEGER,
  -- When the gateway had it so: an older report changes nothing.
  read_at INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;

CREATE INDEX IF NOT EXISTS payment_disputes_by_transaction ON payment_disputes (transaction_id, id);

-- Events that must reach the host application: changes of a payment, and its alerts. They are
-- written in the transaction of the change or the alert, so that neither exists alone.
CREATE TABLE IF NOT EXISTS payment_outbox (
  id TEXT PRIMARY KEY NOT NULL,
  transaction_id TEXT NOT NULL REFERENCES payment_transactions (id),
  -- No CHECK: each new event would need a copy of the table.
  type TEXT NOT NULL,
  -- The payload as it was then; the transaction itself moves on.
  payload TEXT NOT NULL CHECK (json_valid(payload)),
  correlation_id TEXT,
  created_at INTEGER NOT NULL,
  -- A dispatch holds the row until then, so that two of them do not deliver it at the same time.
  leased_until INTEGER,
  attempts INTEGER NOT NULL DEFAULT 0,
  next_attempt_at INTEGER NOT NULL,
  -- The listeners in process are done with it: they took it, there are none, or it was given up,
  -- with an alert. Its HTTP deliveries are in their own table.
  done_at INTEGER
) STRICT;

CREATE INDEX IF NOT EXISTS payment_outbox_by_transaction ON payment_outbox (transaction_id, id);
CREATE INDEX IF NOT EXISTS payment_outbox_due
  ON payment_outbox (next_attempt_at) WHERE done_at IS NULL;

-- The delivery of one event to one endpoint over HTTP. Each endpoint has its own row: while one is
-- down for a day, another must not get everything twice.
CREATE TABLE IF NOT EXISTS payment_deliveries (
  id TEXT PRIMARY KEY NOT NULL,
  outbox_id TEXT NOT NULL REFERENCES payment_outbox (id),
  endpoint TEXT NOT NULL,
  -- `dead` after a day of trying, until a person sends it again.
  status TEXT NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'delivered', 'dead')),
  attempts INTEGER NOT NULL DEFAULT 0,
  leased_until INTEGER,
  next_attempt_at INTEGER NOT NULL,
  -- The result of the last attempt: the HTTP status, or why there was none.
  last_status INTEGER,
  last_error TEXT,
  created_at INTEGER NOT NULL,
  delivered_at INTEGER,
  UNIQUE (outbox_id, endpoint)
) STRICT;

CREATE INDEX IF NOT EXISTS payment_deliveries_due
  ON payment_deliveries (next_attempt_at) WHERE status = 'pending';
CREATE INDEX IF NOT EXISTS payment_deliveries_dead ON payment_deliveries (id) WHERE status = 'dead';

-- What only a person can settle: money that came after its payment had failed, a refund that failed
-- at the gateway, a payment without a known status. Open until somebody acknowledges it.
CREATE TABLE IF NOT EXISTS payment_alerts (
  id TEXT PRIMARY KEY NOT NULL,
  kind TEXT NOT NULL,
  -- What it is about: an event's, transaction's, refund's or delivery's id. With the kind it is
  -- unique, so that a batch which is sent again does not raise an alert twice.
  subject TEXT NOT NULL,
  gateway TEXT NOT NULL,
  transaction_id TEXT REFERENCES payment_transactions (id),
  detail TEXT CHECK (detail IS NULL OR json_valid(detail)),
  created_at INTEGER NOT NULL,
  acknowledged_at INTEGER,
  acknowledged_by TEXT,
  -- Of what was done about it at the gateway, such as a refund by hand.
  gateway_reference TEXT,
  UNIQUE (kind, subject)
) STRICT;

CREATE INDEX IF NOT EXISTS payment_alerts_open ON payment_alerts (id) WHERE acknowledged_at IS NULL;
CREATE INDEX IF NOT EXISTS payment_alerts_by_transaction ON payment_alerts (transaction_id, id);

-- Sessions of browsers that were ended before they expired, on hosts without Durable Objects. No
-- part of the ledger: its saves neither read nor change it.
CREATE TABLE IF NOT EXISTS ended_sessions (
  sid TEXT PRIMARY KEY NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT;

CREATE INDEX IF NOT EXISTS ended_sessions_expired ON ended_sessions (expires_at);

-- Who asked for what: one row for each act of a person or a program, written in the transaction of
-- the change that it tells of. Webhooks and the sweeper have none. Nothing in it names a payer,
-- because no row is ever changed or deleted. It refers to no other table, so that it outlives them.
CREATE TABLE IF NOT EXISTS payment_audit (
  -- Generated for each call and kept for its retries, so that an act is in here once.
  id TEXT PRIMARY KEY NOT NULL,
  at INTEGER NOT NULL,
  -- `charge`, `replace`, `refund`, … No CHECK: each new one would need a copy of the table.
  action TEXT NOT NULL,
  -- The subject of the token; of a call in process, the name that the caller gave itself.
  subject TEXT NOT NULL,
  transaction_id TEXT,
  -- The id of the refund, the alert, the delivery, or of the attempt that replaced this one.
  about TEXT,
  amount INTEGER,
  -- The kind of the alert, or `repeat`.
  detail TEXT
) STRICT;

CREATE INDEX IF NOT EXISTS payment_audit_by_transaction ON payment_audit (transaction_id, id);

CREATE TRIGGER IF NOT EXISTS payment_audit_no_update BEFORE UPDATE ON payment_audit
  BEGIN SELECT RAISE(ABORT, 'payment_audit is append only'); END;
CREATE TRIGGER IF NOT EXISTS payment_audit_no_delete BEFORE DELETE ON payment_audit
  BEGIN SELECT RAISE(ABORT, 'payment_audit is append only'); END;

-- What people wrote on a payment, for those who look at it next. It is deleted with what may name
-- the payer.
CREATE TABLE IF NOT EXISTS payment_notes (
  id TEXT PRIMARY KEY NOT NULL,
  transaction_id TEXT NOT NULL REFERENCES payment_transactions (id),
  text TEXT NOT NULL,
  by TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;

CREATE INDEX IF NOT EXISTS payment_notes_by_transaction ON payment_notes (transaction_id, id);

-- The books: one row for each amount that was paid or given back, written in the transaction of its
-- change and never changed, so a day that was exported stays as it was. The rows of a payment add
-- up to what was paid less what was refunded. Like the audit trail it refers to no other table.
CREATE TABLE IF NOT EXISTS payment_movements (
  id TEXT PRIMARY KEY NOT NULL,
  -- `paid`, `refunded`, … No CHECK: each new one would need a copy of the table.
  kind TEXT NOT NULL,
  transaction_id TEXT NOT NULL,
  gateway TEXT NOT NULL,
  refund_id TEXT,
  -- Signed: what is given back is below 0.
  amount INTEGER NOT NULL,
  currency TEXT NOT NULL,
  -- By our clock; occurred_at is by the gateway's, where it told one.
  booked_at INTEGER NOT NULL,
  occurred_at INTEGER NOT NULL,
  -- Made by a migration out of what was known.
  estimated INTEGER NOT NULL DEFAULT 0 CHECK (estimated IN (0, 1))
) STRICT;

CREATE INDEX IF NOT EXISTS payment_movements_by_time ON payment_movements (booked_at, id);
-- The rows of a settlement are compared with the movements of their payments.
CREATE INDEX IF NOT EXISTS payment_movements_by_transaction ON payment_movements (transaction_id);

CREATE TRIGGER IF NOT EXISTS payment_movements_no_update BEFORE UPDATE ON payment_movements
  BEGIN SELECT RAISE(ABORT, 'payment_movements is append only'); END;
CREATE TRIGGER IF NOT EXISTS payment_movements_no_delete BEFORE DELETE ON payment_movements
  BEGIN SELECT RAISE(ABORT, 'payment_movements is append only'); END;
