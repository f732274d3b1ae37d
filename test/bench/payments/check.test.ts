import { expect, it } from 'vitest'
import { faultsIn } from '../../../bench/payments/check.ts'

const right = { paid: 10, applied: 10, twice: 0, told: 10, untold: 0 }
const load = { sent: 10, ok: 10 }

it('finds nothing wrong when each callback moved one payment and is told once', () => {
  expect(faultsIn(right, load, true)).toEqual([])
})

it('takes no unanswered callback for wrong, whether it was stored or not', () => {
  expect(faultsIn(right, { sent: 12, ok: 9 }, true)).toEqual([])
})

it('asks no outbox of a handler that has none', () => {
  expect(faultsIn({ ...right, told: 0 }, load, false)).toEqual([])
})

it.each([
  ['a payment that was answered and is not stored', { paid: 9, applied: 9, told: 9 }],
  ['a payment that nobody sent', { paid: 11, applied: 11, told: 11 }],
  ['a payment without its event', { applied: 9 }],
  ['a payment that was moved twice', { twice: 1 }],
  ['a payment that is told twice', { told: 11 }],
  ['a payment that is not told', { told: 9 }],
  ['a listener that was not called', { untold: 1 }],
])('finds %s', (_, wrong) => {
  expect(faultsIn({ ...right, ...wrong }, load, true)).toHaveLength(1)
})
