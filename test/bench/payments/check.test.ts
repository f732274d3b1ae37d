import { expect, it } from 'vitest'
import { faultsIn } from '../../../bench/payments/check.ts'

const right = { paid: 10, applied: 10, twice: 0, events: 10, pending: 0 }
const load = { sent: 10, ok: 10 }

it('finds nothing wrong when each callback moved one payment and caused one event', () => {
  expect(faultsIn(right, load, 'taken')).toEqual([])
})

it('takes no unanswered callback for wrong, whether it was stored or not', () => {
  expect(faultsIn(right, { sent: 12, ok: 9 }, 'taken')).toEqual([])
})

it('asks no outbox of a handler that has none', () => {
  expect(faultsIn({ ...right, events: 0 }, load, 'none')).toEqual([])
})

it('expects nothing of a listener that hangs', () => {
  expect(faultsIn({ ...right, pending: 9 }, load, 'hanging')).toEqual([])
})

it.each([
  ['a payment that was answered and is not stored', { paid: 9, applied: 9, events: 9 }],
  ['a payment that nobody sent', { paid: 11, applied: 11, events: 11 }],
  ['a payment without its event', { applied: 9 }],
  ['a payment that was moved twice', { twice: 1 }],
  ['a payment with two events', { events: 11 }],
  ['a payment without an outbox row', { events: 9 }],
  ['a listener that was not called', { pending: 1 }],
])('finds %s', (_, wrong) => {
  expect(faultsIn({ ...right, ...wrong }, load, 'taken')).toHaveLength(1)
})
