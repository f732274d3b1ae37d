-- step: once
DROP INDEX payment_movements_by_transaction;
