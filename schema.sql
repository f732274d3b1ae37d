-- The money that Signalbox knows of, for libSQL (SQLite). Boards are not in here: each repository
-- object has a database of its own.
--
-- The whole schema, for a database that is empty. Every statement may run again, and makes
-- what is missing; a database of an older schema is brought here by migrations/. Times are
-- integers, milliseconds since 1970. Amounts are integers in minor units. Ids are ULIDs, so
-- ordering by id is ordering by time. STRICT, because a text in an amount column must fail, not be
-- kept.
-- A CHECK stands only on what the public contract fixes: SQLite cannot change one without copying
-- the table, and one that refuses what a gateway really sends would lose somebody's payment.

-- The number of the schema, in one row. A ledger that knows another number writes nothing.
CREATE TABLE IF NOT EXISTS payment_schema (
  one INTEGER PRIMARY KEY NOT NULL CHECK (one = 1),
  version INTEGER NOT NULL,
  -- Steps of the migration to the next number that are done; 0: none is under way.
  step INTEGER NOT NULL DEFAULT 0,
  -- The last id that a step in parts has passed, so that a migration goes on where it ended.
  passed TEXT NOT NULL DEFAULT ''
) STRICT;

-- Payments without a number are of schema 1, which this file leaves as it is.
INSERT INTO payment_schema (one, version)
SELECT 1, 4 WHERE NOT EXISTS (SELECT 1 FROM sqlite_master WHERE name = 'payment_transactions')
ON CONFLICT DO NOTHING;

-- Which ledger writes, and how often it did: the one row that every save is compared with. A save
-- on another position than it was loaded on makes `batch` NULL, and all of it fails. A new ledger
-- raises the epoch, and so the one before it is refused.
CREATE TABLE IF NOT EXISTS payment_ledger (
  one INTEGER PRIMARY KEY NOT NULL CHECK (one = 1),
  epoch INTEGER NOT NULL,
  batch INTEGER NOT NULL
) STRICT;

INSERT INTO payment_ledger (one, epoch, batch) VALUES (1, 0, 0) ON CONFLICT DO NOTHING;

-- One row for each attempt to be paid. The row exists before the gateway is called, so that a crash
-- in between leaves a trace which can be followed up.
CREATE TABLE IF NOT EXISTS payment_transactions (
  id TEXT PRIMARY KEY NOT NULL,
  -- Key of the configuration, not the driver's name: two accounts may share one driver.
  gateway TEXT NOT NULL,
  -- The host application's own name for what is paid. Not unique: an order may be tried again.
  reference TEXT NOT NULL,
  attempt INTEGER NOT NULL DEFAULT 1 CHECK (attempt >= 1),
  -- The gateway's name for it; NULL until the gateway has answered.
  gateway_transaction_id TEXT,
  -- Our name for it at the gateway, derived and not drawn: a repeated call names the same payment.
  external_reference_id TEXT,
  -- From the caller, with a hash of the request but for the payer's phone: the same key with
  -- another is refused.
  idempotency_key TEXT,
  request_hash TEXT,
  status TEXT NOT NULL DEFAULT 'Pending' CHECK (status IN
    ('Pending', 'Paid', 'Failed', 'Cancelled', 'Expired', 'Refunded', 'PartiallyRefunded')),
  -- What was asked for.
  amount INTEGER NOT NULL CHECK (amount > 0),
  currency TEXT NOT NULL CHECK (length(currency) = 3),
  -- In the currency that was paid, and never more than was paid, which the ledger sees to: a
  -- gateway may say what it likes.
  refunded_amount INTEGER NOT NULL DEFAULT 0 CHECK (refunded_amount >= 0),
  description TEXT,
  metadata TEXT CHECK (metadata IS NULL OR json_valid(metadata)),
  -- The charge as it was asked for, without the payer's phone: what PaymentInitiated tells, and
  -- what the gateway is asked again with when its answer never came.
  request TEXT CHECK (request IS NULL OR json_valid(request)),
  -- Where the payer was sent. Only the first answer of some gateways holds it, so it is kept.
  redirect_url TEXT,
  -- The whole answer to the charge, which a repeated request gets again.
  charge_answer TEXT CHECK (charge_answer IS NULL OR json_valid(charge_answer)),
  expires_at INTEGER,
  -- Whoever talks to the gateway about the charge, and until when the same request must wait; 0:
  -- nothing was ever sent there.
  called_by TEXT,
  called_until INTEGER,
  -- When the sweeper asks the gateway next; NULL: nothing is open.
  next_check_at INTEGER,
  correlation_id TEXT,
  -- The PaymentError of a failure, as JSON.
  error TEXT CHECK (error IS NULL OR json_valid(error)),
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  paid_at INTEGER,
  -- What was paid, as the gateway told it: it may be another amount than was asked for. NULL until
  -- then. No CHECK, since what a gateway tells is kept.
  paid_amount INTEGER,
  paid_currency TEXT
) STRICT;

-- Each name is unique within its gateway and never looked up across gateways. NULLs do not collide.
CREATE UNIQUE INDEX IF NOT EXISTS payment_transactions_by_gateway_id
  ON payment_transactions (gateway, gateway_transaction_id);
CREATE UNIQUE INDEX IF NOT EXISTS payment_transactions_by_external_reference
  ON payment_transactions (gateway, external_reference_id);
CREATE UNIQUE INDEX IF NOT EXISTS payment_transactions_by_idempotency_key
  ON payment_transactions (gateway, idempotency_key);
-- Matching by reference takes the newest row without a gateway id; counting attempts takes all.
CREATE INDEX IF NOT EXISTS payment_transactions_by_reference
  ON payment_transactions (gateway, reference, id);
-- Most are Paid, and are found without it: a place in here would be one more page for each payment.
CREATE INDEX IF NOT EXISTS payment_transactions_by_status_not_paid
  ON payment_transactions (status, id) WHERE status <> 'Paid';
-- Small however many transactions there are: only what is open is in it.
CREATE INDEX IF NOT EXISTS payment_transactions_due
  ON payment_transactions (next_check_at) WHERE next_check_at IS NOT NULL;

-- Every event that a gateway ever told us, once: the memory that makes a webhook's repetition
-- harmless. Written in the same transaction as the move it causes, so neither exists alone.
CREATE TABLE IF NOT EXISTS payment_webhook_events (
  -- Drawn for each call and kept through its retries: a batch whose outcome is unknown is sent
  -- again, and finds its own id instead of taking itself for a duplicate.
  id TEXT PRIMARY KEY NOT NULL,
  gateway TEXT NOT NULL,
  event_id TEXT NOT NULL,
  -- The names the event came with. A parked event is matched by them when its transaction appears.
  gateway_transaction_id TEXT,
  external_reference_id TEXT,
  reference TEXT,
  -- NULL while parked.
  transaction_id TEXT REFERENCES payment_transactions (id),
  from_status TEXT,
  to_status TEXT NOT NULL,
  -- What the gateway said, whatever it said: it is compared with the transaction, not checked here.
  amount INTEGER NOT NULL,
  currency TEXT NOT NULL,
  -- What was to become of a mismatch when the event came: a parked one keeps to it.
  on_mismatch TEXT NOT NULL DEFAULT 'log' CHECK (on_mismatch IN ('log', 'reject')),
  -- Paid with another amount or currency than was asked for.
  mismatch INTEGER NOT NULL DEFAULT 0 CHECK (mismatch IN (0, 1)),
  outcome TEXT NOT NULL CHECK (outcome IN
    ('applied', 'unchanged', 'illegal', 'rejected', 'parked', 'late_payment')),
  -- The kind of the alert that it raises: it moves nothing, and a person should see it.
  alert TEXT,
  error TEXT CHECK (error IS NULL OR json_valid(error)),
  -- What the gateway sent, as JSON, with what is secret or the payer's own masked.
  raw TEXT,
  correlation_id TEXT,
  -- Of the event, by the gateway's clock; received_at is by ours.
  occurred_at INTEGER NOT NULL,
  received_at INTEGER NOT NULL,
  UNIQUE (gateway, event_id)
) STRICT;

CREATE INDEX IF NOT EXISTS payment_webhook_events_by_transaction
  ON payment_webhook_events (transaction_id, id);
CREATE INDEX IF NOT EXISTS payment_webhook_events_by_outcome
  ON payment_webhook_events (outcome, id);
-- A charge that has just got its gateway id asks whether its webhook was faster than the answer.
CREATE INDEX IF NOT EXISTS payment_webhook_events_parked
  ON payment_webhook_events (gateway, gateway_transaction_id) WHERE outcome = 'parked';
-- Somebody else's payments may share the gateway's account, and all of their events are parked.
CREATE INDEX IF NOT EXISTS payment_webhook_events_parked_by_external_reference
  ON payment_webhook_events (gateway, external_reference_id) WHERE outcome = 'parked';
CREATE INDEX IF NOT EXISTS payment_webhook_events_parked_by_reference
  ON payment_webhook_events (gateway, reference) WHERE outcome = 'parked';
-- Events are kept for 90 days.
CREATE INDEX IF NOT EXISTS payment_webhook_events_by_age
  ON payment_webhook_events (received_at);

-- Money on its way back. The row is claimed before the gateway is called: a crash after the call
-- must leave a refund to follow up, never one that is made a second time.
CREATE TABLE IF NOT EXISTS payment_refunds (
  id TEXT PRIMARY KEY NOT NULL,
  transaction_id TEXT NOT NULL REFERENCES payment_transactions (id),
  amount INTEGER NOT NULL CHECK (amount > 0),
  -- What had been given back before: with it the sum is right, whichever of the gateway's answer
  -- and its webhook comes first.
  refunded_before INTEGER NOT NULL,
  reason TEXT NOT NULL,
  -- `claimed` also while the outcome is unknown: that is the sweeper's to find out. `accepted`: the
  -- gateway will tell later whether the money went.
  status TEXT NOT NULL DEFAULT 'claimed'
    CHECK (status IN ('claimed', 'accepted', 'succeeded', 'failed')),
  -- The gateway's name for it.
  gateway_refund_id TEXT,
  idempotency_key TEXT,
  request_hash TEXT,
  correlation_id TEXT,
  error TEXT CHECK (error IS NULL OR json_valid(error)),
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;

CREATE INDEX IF NOT EXISTS payment_refunds_by_transaction ON payment_refunds (transaction_id, id);
-- Two refunds of one transaction at the same time would both pass the check of what is left.
CREATE UNIQUE INDEX IF NOT EXISTS payment_refunds_under_way
  ON payment_refunds (transaction_id) WHERE status IN ('claimed', 'accepted');
CREATE UNIQUE INDEX IF NOT EXISTS payment_refunds_by_idempotency_key
  ON payment_refunds (transaction_id, idempotency_key);

-- Events that must reach the host application: those of a payment's life, and its alerts. Written
-- in the transaction of the move or the alert, so that neither can be there without the other.
CREATE TABLE IF NOT EXISTS payment_outbox (
  id TEXT PRIMARY KEY NOT NULL,
  transaction_id TEXT NOT NULL REFERENCES payment_transactions (id),
  -- No CHECK: each new event would need a copy of the table.
  type TEXT NOT NULL,
  -- The payload as it was then; the transaction itself moves on.
  payload TEXT NOT NULL CHECK (json_valid(payload)),
  correlation_id TEXT,
  created_at INTEGER NOT NULL,
  -- Whoever delivers holds the row until then, so that two deliverers never tell it twice at once.
  leased_until INTEGER,
  attempts INTEGER NOT NULL DEFAULT 0,
  next_attempt_at INTEGER NOT NULL,
  -- The listeners in process are through with it: they took it, nobody listens, or it was given up,
  -- which an alert says. Its HTTP deliveries stand in their own table.
  done_at INTEGER
) STRICT;

CREATE INDEX IF NOT EXISTS payment_outbox_by_transaction ON payment_outbox (transaction_id, id);
CREATE INDEX IF NOT EXISTS payment_outbox_due
  ON payment_outbox (next_attempt_at) WHERE done_at IS NULL;

-- One event on its way to one endpoint over HTTP. A row of its own for each endpoint, because one
-- that is down for a day must not make another hear everything twice.
CREATE TABLE IF NOT EXISTS payment_deliveries (
  id TEXT PRIMARY KEY NOT NULL,
  outbox_id TEXT NOT NULL REFERENCES payment_outbox (id),
  endpoint TEXT NOT NULL,
  -- `dead` after a day of trying, until a person sends it again.
  status TEXT NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'delivered', 'dead')),
  attempts INTEGER NOT NULL DEFAULT 0,
  leased_until INTEGER,
  next_attempt_at INTEGER NOT NULL,
  -- How the last attempt went: the HTTP status, or why there was none.
  last_status INTEGER,
  last_error TEXT,
  created_at INTEGER NOT NULL,
  delivered_at INTEGER,
  UNIQUE (outbox_id, endpoint)
) STRICT;

CREATE INDEX IF NOT EXISTS payment_deliveries_due
  ON payment_deliveries (next_attempt_at) WHERE status = 'pending';
CREATE INDEX IF NOT EXISTS payment_deliveries_dead ON payment_deliveries (id) WHERE status = 'dead';

-- What only a person can settle: money that came after its payment had failed, a refund that the
-- gateway reports as failed, a payment that stays unknown. Open until somebody acknowledges it.
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
  UNIQUE (kind, subject)
) STRICT;

CREATE INDEX IF NOT EXISTS payment_alerts_open ON payment_alerts (id) WHERE acknowledged_at IS NULL;
CREATE INDEX IF NOT EXISTS payment_alerts_by_transaction ON payment_alerts (transaction_id, id);
