import { describe, expect, it } from 'vitest'
import { ApiProblem } from '../../../console/data/http.ts'
import { boardLamp, freshnessLamp, lampOf, sidecarLamp } from '../../../console/frame/lamp.ts'
import { timeOf } from '../../../console/ui/format.ts'
import { listed } from '../../support/made-up-board.ts'

const NOW = Date.parse('2026-03-02T10:00:00Z')

describe('the lamp of the connection', () => {
  it('is green only while the stream is open and every change is loaded', () => {
    const since = NOW - 60_000
    expect(lampOf({ name: 'live', since, currentAt: NOW }, NOW).lamp).toBe('go')
    expect(lampOf({ name: 'connecting', since }, NOW).lamp).toBe('caution')
    expect(lampOf({ name: 'waiting', since }, NOW).lamp).toBe('caution')
    expect(lampOf({ name: 'refused', since, code: 'x', error: 'No.' }, NOW).lamp).toBe('stop')
    expect(lampOf({ name: 'closed' }, NOW).lamp).toBe('stop')
  })

  it('is yellow while the watcher of the sidecar has failed, and so is the sidecar’s', () => {
    const state = { name: 'live', since: NOW, currentAt: NOW, unwatched: true } as const
    expect([lampOf(state, NOW).lamp, sidecarLamp(state, NOW).lamp]).toEqual(['caution', 'caution'])
  })

  it('is red while the folder is missing or nobody reports it, although the stream is open', () => {
    const stale = { name: 'stale', since: NOW - 60_000, currentAt: NOW - 60_000 } as const
    expect(lampOf({ ...stale, reason: 'missing' }, NOW)).toMatchObject({
      lamp: 'stop',
      text: 'The folder is missing',
    })
    expect(sidecarLamp({ ...stale, reason: 'missing' }, NOW)).toEqual({
      lamp: 'stop',
      text: 'sees no folder',
    })
    expect(lampOf({ ...stale, reason: 'offline' }, NOW)).toMatchObject({
      lamp: 'stop',
      text: `The files' side is offline since ${timeOf(NOW - 60_000, NOW)}`,
    })
  })

  it('is yellow for a board that is read for the first time, and says how far that is', () => {
    const state = { name: 'waiting', since: NOW } as const
    const reading = { done: 66_367, total: 100_001 }
    expect(lampOf(state, NOW, reading)).toMatchObject({ lamp: 'caution', text: 'Being read: 66 %' })
    expect(sidecarLamp(state, NOW, true)).toEqual({ lamp: 'caution', text: 'reads the files' })
    expect(lampOf(state, NOW).text).toBe('Waiting for a sidecar')
  })

  it('is yellow for a short break, and then red with the time since which the data is stale', () => {
    const broken = (agoMs: number) =>
      lampOf(
        { name: 'reconnecting', since: NOW - agoMs, currentAt: NOW - agoMs, reason: 'silent' },
        NOW,
      )
    expect(broken(9_999)).toMatchObject({ lamp: 'caution', text: 'Reconnecting…' })
    expect(broken(10_000)).toMatchObject({
      lamp: 'stop',
      text: expect.stringMatching(/^Stale since/),
    })
  })
})

describe('the lamp of the payments', () => {
  it('is green only while the last round is recent', () => {
    expect(freshnessLamp({ name: 'loading' }, NOW).lamp).toBe('caution')
    expect(freshnessLamp({ name: 'current', asOf: NOW - 15_000 }, NOW)).toMatchObject({
      lamp: 'go',
      text: `As of ${timeOf(NOW - 15_000, NOW)}`,
    })
    expect(freshnessLamp({ name: 'current', asOf: NOW - 15_001 }, NOW).lamp).toBe('caution')
  })

  it('shows since when there was no update, and why', () => {
    const problem = new ApiProblem(503, 'ledger_unavailable', 'The database is away.')
    expect(freshnessLamp({ name: 'unreachable', asOf: NOW - 9_000, problem }, NOW)).toEqual({
      lamp: 'stop',
      text: `Not updated since ${timeOf(NOW - 9_000, NOW)}`,
      hint: 'The database is away.',
    })
    const gone = new ApiProblem(0, 'unreachable', 'TypeError: Failed to fetch')
    expect(freshnessLamp({ name: 'unreachable', problem: gone }, NOW)).toEqual({
      lamp: 'stop',
      text: 'Not loaded',
      hint: 'The edge does not answer.',
    })
  })
})

it('a board of the list says only what is wrong, red when its folder is missing', () => {
  const lastSeenAt = '2026-03-02T09:00:00Z'
  const of = (state: 'running' | 'ended' | 'offline', store: 'present' | 'missing' = 'present') =>
    boardLamp(listed('a', { store, sidecar: { state, lastSeenAt, version: '1.2.3' } }), NOW)
  const seen = timeOf(Date.parse(lastSeenAt), NOW)
  expect(of('running')).toBeUndefined()
  expect(of('ended')).toEqual({ lamp: 'caution', text: `Its sidecar ended: ${seen}` })
  expect(of('offline')).toEqual({ lamp: 'stop', text: `Its sidecar is offline since ${seen}` })
  expect(of('running', 'missing')).toEqual({ lamp: 'stop', text: 'Its folder is missing' })
})

it('the board on the page has in the list the lamp of its stream, which is right at once', () => {
  const sidecar = { state: 'running', lastSeenAt: '2026-03-02T09:00:00Z', version: '1' } as const
  const times = { since: NOW, currentAt: NOW }
  const back = boardLamp(listed('a', { store: 'missing', sidecar }), NOW, {
    name: 'live',
    ...times,
  })
  expect(back).toBeUndefined()
  const gone = boardLamp(listed('a', { sidecar }), NOW, {
    name: 'stale',
    reason: 'missing',
    ...times,
  })
  expect(gone).toEqual({ lamp: 'stop', text: 'Its folder is missing' })
  const unknown = boardLamp(listed('a', { store: 'missing', sidecar }), NOW, {
    name: 'connecting',
    since: NOW,
  })
  expect(unknown?.lamp).toBe('stop')
})
