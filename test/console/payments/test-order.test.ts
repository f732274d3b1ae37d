import { expect, test } from 'vitest'
import { exampleAmount } from '../../../console/payments/charge/test-order.ts'
import { parseAmount } from '../../../console/payments/money-text.ts'

test.each(['IQD', 'USD', 'JPY', 'KRW', 'KWD'])(
  'the example amount of %s is a valid one',
  (code) => {
    expect(parseAmount(exampleAmount(code), code)).toBeGreaterThan(0)
  },
)
