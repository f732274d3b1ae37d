-- step: once
CREATE INDEX payment_refunds_by_gateway_id
  ON payment_refunds (gateway_refund_id) WHERE gateway_refund_id IS NOT NULL;
-- step: once
CREATE INDEX payment_movements_by_transaction ON payment_movements (transaction_id);
