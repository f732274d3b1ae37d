import { expect, it } from 'vitest'
import { EVENT_NAMES, isEventName } from '../../../../worker/payments/domain/status.ts'

it('only the name of an event is one', () => {
  expect(EVENT_NAMES.every(isEventName)).toBe(true)
  expect(['', 'paymentsucceeded', 'toString'].some(isEventName)).toBe(false)
})
