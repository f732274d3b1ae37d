-- From schema 2 to schema 3: the row with which every save of the ledger is compared. A ledger of
-- an older version does not know it, so it must be stopped before.

CREATE TABLE IF NOT EXISTS payment_ledger (
  one INTEGER PRIMARY KEY NOT NULL CHECK (one = 1),
  epoch INTEGER NOT NULL,
  batch INTEGER NOT NULL
) STRICT;

INSERT INTO payment_ledger (one, epoch, batch) VALUES (1, 0, 0) ON CONFLICT DO NOTHING;
