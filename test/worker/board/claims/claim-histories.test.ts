// Random histories of a list, of agents and of a clock: whatever happens, a task is one agent's, and
// what its row, its session and its holder are told agrees.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { CONFIG, claimBoard, NOW } from '../../../support/claim-board.ts'
import { taskRecord } from '../../../support/edge.ts'

const LEASE_MS = 60_000
const TEXTS = ['Bake', 'Brew', 'Serve', 'Wash', 'Shop', 'Wipe', 'Sweep']

/** What happens, so many ms after the step before. */
type Step = { after: number } & (
  | { do: 'insert'; at: number; text: string }
  | { do: 'remove'; at: number }
  | { do: 'mark'; at: number; status: string }
  | { do: 'reverse' | 'publish' | 'cut' | 'back' }
  | { do: 'claim'; actor: string; task?: number; force: boolean }
  | { do: 'renew'; actor: string }
  | { do: 'release'; actor: string; outcome: 'done' | 'abandoned' }
)

const at = fc.nat(5)
const actor = fc.constantFrom('ada', 'bob', 'eve')
const is = fc.constant
const what = fc.oneof(
  fc.record({ do: is('insert' as const), at, text: fc.constantFrom(...TEXTS) }),
  fc.record({ do: is('remove' as const), at }),
  fc.record({
    do: is('mark' as const),
    at,
    status: fc.constantFrom('todo', 'doing', 'done'),
  }),
  fc.record({ do: fc.constantFrom('reverse', 'publish', 'publish', 'cut', 'back') }),
  fc.record(
    { do: is('claim' as const), actor, task: fc.integer({ min: 1, max: 5 }), force: fc.boolean() },
    { requiredKeys: ['do', 'actor', 'force'] },
  ),
  fc.record({ do: is('renew' as const), actor }),
  fc.record({
    do: is('release' as const),
    actor,
    outcome: fc.constantFrom('done' as const, 'abandoned' as const),
  }),
)
const step = fc
  .tuple(what, fc.constantFrom(10, 400, 10_000, 30_000))
  .map(([it, after]) => ({ ...it, after }) as Step)

function history() {
  const board = claimBoard(CONFIG)
  let now = NOW
  let lines = TEXTS.slice(0, 4).map((text) => ({ text, status: 'todo' }))
  let cut: typeof lines = []
  const published = new Map<string, string>()
  const kept = new Map<string, string>()
  let secrets = 0

  const publish = () => {
    const rows = lines.map(({ text: title, status }, n) => {
      const ready = status !== 'done'
      return taskRecord(`tea/${n + 1}`, { title, status, ready, parent: 'tea', rank: n + 1 })
    })
    const ids = new Set(rows.map(({ id }) => id))
    const deletes = [...published.keys()].filter((id) => !ids.has(id))
    const upserts = rows.filter(({ id, task }) => published.get(id) !== JSON.stringify(task))
    for (const id of deletes) published.delete(id)
    for (const { id, task } of rows) published.set(id, JSON.stringify(task))
    board.change({ upserts, deletes: deletes.map((id) => `task:${id}` as const) }, now)
  }
  /** Who works on which task, by the sessions. */
  const holders = () =>
    new Map(
      board.sessions().flatMap(({ health, task, actor }) => {
        return health === 'active' ? [[task, actor]] : []
      }),
    )
  const secretOf = (actor: string) => {
    const hash = kept.get(actor) ?? `secret-${++secrets}`
    kept.set(actor, hash)
    return hash
  }
  const claim = ({ actor, task, force }: Step & { do: 'claim' }) => {
    const hash = secretOf(actor)
    board.claims.expire(now)
    const before = holders()
    const named = task !== undefined && { task: `tea/${task}` }
    const given = { hash, actor, ttlMs: LEASE_MS, max: 1, force, ...named }
    const answer = board.claims.claim(given, now)
    if (!answer.ok) {
      if (answer.reason === 'claim_lost') kept.delete(actor)
      return
    }
    const { task: id, isRepeated } = answer.answer
    expect([isRepeated, before.get(id)]).toEqual([isRepeated, isRepeated ? actor : undefined])
    expect(named === false || named.task === id).toBe(true)
  }
  const renew = (actor: string) => {
    const answer = board.claims.renew({ hash: secretOf(actor) }, now)
    if (answer.ok && !answer.answer.end) {
      expect(holders().get(answer.answer.task)).toBe(actor)
    }
  }
  publish()
  return (step: Step) => {
    now += step.after
    board.sync(now)
    switch (step.do) {
      case 'insert':
        lines.splice(step.at, 0, { text: step.text, status: 'todo' })
        break
      case 'remove':
        lines.splice(step.at, 1)
        break
      case 'mark': {
        const line = lines[step.at]
        if (line) line.status = step.status
        break
      }
      case 'reverse':
        lines.reverse()
        break
      case 'publish':
        publish()
        break
      case 'cut':
        cut = lines
        lines = lines.slice(0, 1)
        publish()
        break
      case 'back':
        if (cut.length > 0) lines = cut
        publish()
        break
      case 'claim':
        claim(step)
        break
      case 'renew':
        renew(step.actor)
        break
      case 'release':
        board.claims.release({ hash: secretOf(step.actor), outcome: step.outcome }, now)
    }
    const open = board.sessions().filter(({ health }) => /^(active|stalled)$/.test(health))
    expect(new Set(open.map(({ task }) => task)).size).toBe(open.length)
    const wanted = open.map(({ id, task, health }) => [task, `${id} ${health}`] as const)
    const shown = board.rows().flatMap(({ id, sessionId, executionState }) => {
      return sessionId === undefined ? [] : [[id, `${sessionId} ${executionState}`] as const]
    })
    expect(new Map(shown)).toEqual(new Map(wanted))
  }
}

describe('claims in random histories', () => {
  it('are one of each task, and rows, sessions and holders are told the same', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60, size: 'max' }), (steps) => {
        const happens = history()
        for (const each of steps) happens(each)
      }),
      { numRuns: 100 },
    )
  })
})
