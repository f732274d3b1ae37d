// Ways to spoil a good history, and what the checker must say then.

import { expect } from 'vitest'
import { checkHistory } from '../../../tools/prove/checker/check.ts'
import { goodHistory, type Line, textOf } from './good-history.ts'

export const findings = (lines: readonly Line[]) =>
  checkHistory(textOf(lines.map((line) => laterAs(line, lines)))).map(({ check, line }) => {
    return { check, line }
  })

/** What is spoiled stays so, also months later, unless it `isOther` then. */
function laterAs(line: Line, lines: readonly Line[]): Line {
  if (line.kind !== 'later' || line.isOther) return line
  const { id } = line.transaction as { id: string }
  const stored = lines.find(isStored(id))
  return { ...line, ...(stored && { transaction: stored.transaction }) }
}

export type Which = (line: Line) => boolean

/** The index of the first or the last such line. */
export function indexOf(
  lines: readonly Line[],
  isIt: Which,
  which: 'first' | 'last' = 'first',
): number {
  const at = which === 'first' ? lines.findIndex(isIt) : lines.findLastIndex(isIt)
  if (at < 0) throw new Error('the history has no such line')
  return at
}

/** Changes one line of a good history. The findings must be these checks, at that line. */
export function expectChanged(
  which: 'first' | 'last',
  isIt: Which,
  change: (line: Line) => Line,
  checks: string[],
): void {
  const lines = goodHistory()
  const at = indexOf(lines, isIt, which)
  lines[at] = change(lines[at] as Line)
  expect(findings(lines)).toEqual(checks.map((check) => ({ check, line: at + 1 })))
}

/** Removes the last such line; `shown`: the line, of those that are left, that must be named. */
export function expectMissed(
  isIt: Which,
  check: string,
  shown: Which,
  which?: 'first' | 'last',
): void {
  const lines = goodHistory()
  lines.splice(indexOf(lines, isIt, 'last'), 1)
  expect(findings(lines)).toContainEqual({ check, line: indexOf(lines, shown, which) + 1 })
}

/** Adds a line after the first such line of a good history. The findings must be these. */
export function expectAdded(
  isIt: Which,
  line: Line,
  checks: { check: string; shown: Which }[],
): void {
  const lines = goodHistory()
  lines.splice(indexOf(lines, isIt) + 1, 0, line)
  const expected = checks.map(({ check, shown }) => ({ check, line: indexOf(lines, shown) + 1 }))
  expect(findings(lines)).toEqual(expected)
}

export const isOf =
  (kind: string, own: Record<string, unknown> = {}): Which =>
  (line) =>
    line.kind === kind && Object.entries(own).every(([name, value]) => line[name] === value)
export const isRead = (client: string, id: string) => (line: Line) =>
  isOf('read', { client })(line) &&
  id in { ...(line.tasks as object), ...(line.sessions as object) }
export const idOf = (n: number): string => `0a1b2c3d4e5f-${n}`
export const isReceived = (client: string, n: number) => isOf('message', { client, id: idOf(n) })
export const isStored = (id: string) => (line: Line) =>
  line.kind === 'stored' && (line.transaction as { id: string }).id === id
export const isBooking = (id: string) => (line: Line) =>
  line.kind === 'booking' && (line.payment as { id: string }).id === `gateway ${id}`
export const isDelivery = (kind: string, id: string, status: string) => (line: Line) => {
  const transaction = line.transaction as { id: string; status: string }
  return line.kind === kind && transaction.id === id && transaction.status === status
}
export const withStored = (own: object) => (line: Line) => ({
  ...line,
  transaction: { ...(line.transaction as object), ...own },
})
export const withPayment = (own: object) => (line: Line) => ({
  ...line,
  payment: { ...(line.payment as object), ...own },
})
export const iqd = (amount: number) => ({ amount, currency: 'IQD' })
/** An alert before the last line, its event among those of the transaction, taken by both. */
export function addAlert(lines: Line[], kind: string, transactionId: string, detail: object): void {
  const alert = {
    id: `${kind} of ${transactionId}`,
    kind,
    transactionId,
    detail,
    createdAt: 'then',
  }
  const at = indexOf(lines, isStored(transactionId))
  const stored = lines[at]?.transaction as { id: string; events: object[] }
  const payload = { alert, transaction: { id: transactionId, status: 'any' } }
  const event = { id: `event ${alert.id}`, type: 'AlertRaised', payload }
  lines[at] = withStored({ events: [...stored.events, event] })(lines[at] as Line)
  const { id, type } = event
  lines.splice(
    -1,
    0,
    { kind: 'alert', alert },
    { kind: 'listener', type, status: 200, ...payload },
    { kind: 'endpoint', type, id, status: 204, ...payload },
  )
}
