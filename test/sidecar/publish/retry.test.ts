import { expect, test } from 'vitest'
import type { Failure, FailureReason } from '../../../sidecar/publish/edge.ts'
import { afterFailure } from '../../../sidecar/publish/retry.ts'

const half = 0.5
const failure = (reason: FailureReason, more: Partial<Failure> = {}): Failure => ({
  ok: false,
  reason,
  message: '',
  ...more,
})

test('the wait doubles from 200 ms to 30 s and never passes it, however often it failed', () => {
  const waits = [0, 1, 2, 7, 8, 1_000_000].map(
    (attempt) => afterFailure(failure('network'), attempt, 1).waitMs,
  )
  expect(waits).toEqual([200, 400, 800, 25_600, 30_000, 30_000])
})

test('Retry-After is waited out, but not for longer than ten minutes', () => {
  const wait = (retryAfterMs: number) =>
    afterFailure(failure('busy', { retryAfterMs }), 0, half).waitMs
  expect(wait(5_000)).toBe(5_150)
  expect(wait(86_400_000)).toBe(600_150)
})

test('an edge that asks for a sync gets it at once, but only the first time in a row', () => {
  const again = (attempt: number) =>
    afterFailure(failure('conflict', { code: 'sync_required' }), attempt, half)
  expect(again(0)).toEqual({ waitMs: 0, sync: true, freshRun: true })
  expect(again(3).waitMs).toBe(1_200)
})

test('a superseded sidecar asks about every second, with the run that it has', () => {
  const superseded = failure('conflict', { code: 'superseded' })
  const asked = { waitMs: 1_250, sync: true, freshRun: false }
  for (const attempt of [0, 9]) expect(afterFailure(superseded, attempt, half)).toEqual(asked)
})

test('a failure that says nothing of the state of the edge does not cost a sync', () => {
  for (const reason of ['network', 'timeout', 'busy', 'malformed', 'unauthorized'] as const)
    expect(afterFailure(failure(reason), 0, half)).toMatchObject({
      sync: false,
      freshRun: false,
    })
})

test('another version of the protocol is asked for every half a minute, and begins with a sync', () => {
  for (const attempt of [0, 9]) {
    expect(afterFailure(failure('version'), attempt, half)).toEqual({
      waitMs: 30_000,
      sync: true,
      freshRun: false,
    })
  }
})
