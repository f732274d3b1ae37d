-- step: once
ALTER TABLE payment_transactions ADD COLUMN last_check_at INTEGER;
ALTER TABLE payment_transactions ADD COLUMN last_check_status TEXT;
