// A claim follows its text: lists whose numbers move, files that are renumbered.

import { describe, expect, it } from 'vitest'
import type { ClaimRequest } from '../../../../worker/board/claims/claim-calls.ts'
import type { DataRecord, Task } from '../../../../worker/board/wire.ts'
import { CONFIG, claimBoard, NOW, TTL } from '../../../support/claim-board.ts'
import { taskRecord } from '../../../support/edge.ts'

const HELD = 120_000

/** A line of a list: `2 Bake`, with its state, `- Bake` without a number. */
function line(text: string, rank: number, parent: string): DataRecord & { kind: 'task' } {
  const [, number = '', title = '', status = 'todo'] =
    /^(\S+) (.+?)(?: (done|doing))?$/.exec(text) ?? []
  const name = number === '-' ? `text-${title}` : number
  return taskRecord(`${parent}/${name}`, {
    title,
    status,
    rank,
    parent,
    ready: status !== 'done',
    ...(number === '-' && { unnumbered: true }),
  })
}

/** A board with lists, that are written anew. */
function lists(...first: string[]) {
  const records = (lines: readonly string[], parent: string) =>
    lines.map((text, n) => line(text, n + 1, parent))
  const known = new Map([['tea', records(first, 'tea')]])
  const board = claimBoard(CONFIG, ...records(first, 'tea'))
  /** What differs, as one publication, or in two parts of it. */
  const write = (lines: readonly string[], parent = 'tea', { now = NOW, parts = 1 } = {}) => {
    const old = known.get(parent) ?? []
    const fresh = records(lines, parent)
    known.set(parent, fresh)
    const isIn = (some: typeof fresh, id: string) => some.some((it) => it.id === id)
    const upserts = fresh.filter(
      ({ id, task }) =>
        JSON.stringify(old.find((it) => it.id === id)?.task) !== JSON.stringify(task),
    )
    const deletes = old.flatMap(({ id }) => (isIn(fresh, id) ? [] : [`task:${id}` as const]))
    if (parts === 1) return board.change({ upserts, deletes }, now)
    board.change({ upserts: upserts.slice(0, 1), deletes, more: true }, now)
    return board.change({ upserts: upserts.slice(1) }, now)
  }
  const claim = (number: string, fields: Partial<ClaimRequest> = {}) => {
    const actor = `of ${number}`
    const answer = board.claim({ task: `tea/${number}`, hash: actor, actor, ...fields })
    if (!answer.ok) throw new Error(answer.reason)
  }
  return {
    ...board,
    write,
    claim,
    /** The number that the claim of this one is of now, and how it has ended. */
    now: (number: string, now = NOW) => {
      const answer = board.claims.renew({ hash: `of ${number}` }, now)
      if (!answer.ok) return answer.reason
      const { task, title, end } = answer.answer
      return [task.replace('tea/', ''), title, ...(end ? [end.outcome] : [])].join(' ')
    },
    /** Tasks that somebody works on, by their rows. */
    overlaid: () =>
      board
        .rows()
        .filter(({ executionState }) => executionState === 'active')
        .map(({ id }: Task) => id.replace('tea/', '')),
    claimNext: board.given,
    given: (number: string, now = NOW) =>
      board.given({ task: `tea/${number}`, actor: `eve of ${number}`, force: true }, now),
  }
}

describe('claims of a list whose numbers move', () => {
  it('go with their texts, all at once, with sessions, overlays and messages', () => {
    for (const parts of [1, 2]) {
      const it = lists('1 Bake', '2 Brew', '3 Serve')
      for (const number of ['1', '2', '3']) it.claim(number)
      const { frames } = it.write(['1 Shop', '2 Bake', '3 Brew', '4 Serve'], 'tea', { parts })
      expect(['1', '2', '3'].map((number) => it.now(number))).toEqual([
        '2 Bake',
        '3 Brew',
        '4 Serve',
      ])
      expect(it.overlaid()).toEqual(['2', '3', '4'])
      const sessions = it.sessions().map(({ id, task, health }) => ({ id, task, health }))
      expect(sessions.map(({ task }) => task).toSorted()).toEqual(['tea/2', 'tea/3', 'tea/4'])
      for (const { id } of sessions) expect(frames.join('')).toContain(id)
      expect(it.given('1')).toBe('tea/1')
      expect(it.given('2')).toBe('claimed')
    }
  })

  it('go back again, and hold one each', () => {
    const it = lists('1 Bake', '2 Brew')
    it.claim('1')
    it.claim('2')
    it.write(['1 Brew', '2 Bake'])
    expect([it.now('1'), it.now('2')]).toEqual(['2 Bake', '1 Brew'])
    it.write(['1 Bake', '2 Brew'])
    expect([it.now('1'), it.now('2')]).toEqual(['1 Bake', '2 Brew'])
    expect(it.overlaid()).toEqual(['1', '2'])
  })

  it('go where a list was half written for a while', () => {
    const it = lists('1 Bake', '2 Brew', '3 Serve')
    it.claim('3')
    it.write(['1 Shop', '2 Bake'])
    expect(it.now('3')).toBe('3 Serve deleted')
    it.write(['1 Shop', '2 Bake', '3 Brew', '4 Serve'], 'tea', { now: NOW + 400 })
    expect(it.now('3', NOW + 400)).toBe('4 Serve')
    expect(it.overlaid()).toEqual(['4'])
  })

  it('take the id of one that was finished there: that one is over', () => {
    const it = lists('1 Shop', '2 Bake', '3 Brew')
    it.claim('2')
    it.claim('3')
    it.write(['1 Shop', '2 Bake', '3 Brew done'])
    expect(it.now('3')).toBe('3 Brew closed')
    it.write(['1 Shop', '2 Boil', '3 Bake', '4 Brew done'])
    expect(it.now('2')).toBe('3 Bake')
    expect(it.now('3')).toBe('claim_lost')
    const late = { hash: 'of 3', outcome: 'done', summary: 'brewed' } as const
    expect(it.claims.release(late, NOW)).toMatchObject({ ok: true })
    expect(it.overlaid()).toEqual(['3'])
    expect(it.given('3')).toBe('claimed')
  })

  it('take the id of one whose task went, and whose lease is over: what it says later is of no task', () => {
    const it = lists('1 Bake', '2 Brew')
    it.claim('1')
    it.claim('2')
    it.write(['1 Bake'])
    const later = NOW + TTL + 1
    it.claims.renew({ hash: 'of 1', ttlMs: 2 * TTL }, NOW)
    it.write(['1 Brew', '2 Bake'], 'tea', { now: later })
    expect(it.now('1', later)).toBe('2 Bake')
    expect(it.claims.release({ hash: 'of 2', outcome: 'done' }, later)).toMatchObject({ ok: false })
    expect(it.overlaid()).toEqual(['2'])
  })

  it.each<[string, string[], string[], string]>([
    ['another had its title before', ['1 Bake', '2 Brew', '3 Bake'], ['1 Tea', '3 Bake'], '1 Bake'],
    ['two have it now', ['1 Bake', '2 Brew'], ['1 Tea', '2 Bake', '3 Bake'], '1 Bake'],
    ['the one that has it is closed', ['1 Bake'], ['1 Tea', '2 Bake done'], '1 Bake'],
    ['none has it', ['1 Bake', '2 Brew'], ['1 Bread', '2 Brew'], '1 Bake'],
  ])('stay where %s', (_name, before, after, expected) => {
    const it = lists(...before)
    it.claim('1')
    it.write(after)
    expect(it.now('1')).toBe(expected)
    expect(it.overlaid()).toEqual(['1'])
  })

  it('stay where a claim stays on the one that has the title', () => {
    const it = lists('1 Bake', '2 Brew')
    it.claim('1')
    it.claim('2')
    it.write(['1 Tea', '2 Bake'])
    expect([it.now('1'), it.now('2')]).toEqual(['1 Bake', '2 Brew'])
  })

  it('do not leave the list, where it has a parent', () => {
    const it = lists('1 Bake')
    it.claim('1')
    it.write(['1 Bake'], 'cake')
    it.write(['1 Tea'])
    expect(it.now('1')).toBe('1 Bake')
  })

  it('keep what may be theirs for two minutes, and take it once it is the only one', () => {
    const it = lists('1 Bake')
    it.claim('1', { ttlMs: 600_000 })
    it.write(['1 Tea', '2 Bake', '3 Bake'])
    expect([it.given('2'), it.given('3')]).toEqual(['claimed', 'claimed'])
    expect(it.claimNext({ parent: 'tea', actor: 'eve' })).toBe('nothing_ready')
    it.write(['1 Tea', '3 Bake'], 'tea', { now: NOW + 5_000 })
    expect(it.now('1', NOW + 5_000)).toBe('3 Bake')

    const other = lists('1 Bake')
    other.claim('1', { ttlMs: 600_000 })
    other.write(['1 Tea', '2 Bake', '3 Bake'])
    other.sync(NOW + HELD - 1)
    expect(other.given('2', NOW + HELD - 1)).toBe('claimed')
    expect(other.given('2', NOW + HELD)).toBe('tea/2')
  })

  it('that were done and rest go, too: what is done is not offered under another number', () => {
    const it = lists('1 Bake', '2 Brew')
    it.claim('2')
    it.claims.release({ hash: 'of 2', outcome: 'done' }, NOW)
    it.write(['1 Shop', '2 Bake', '3 Brew'])
    expect(it.now('2')).toBe('3 Brew done')
    expect(it.claimNext({ actor: 'eve' })).toBe('tea/1')
    expect(it.claimNext({ actor: 'flo' })).toBe('tea/2')
    expect(it.claimNext({ actor: 'ida' })).toBe('nothing_ready')
    expect(it.rows().map((row) => row.done?.by)).toEqual([undefined, undefined, 'of 2'])
  })

  it('of before do not say anything of the text that came', () => {
    const it = lists('1 Bake', '2 Brew')
    it.claim('1')
    it.claim('2')
    it.claims.release({ hash: 'of 2', outcome: 'done' }, NOW)
    it.write(['1 Tea', '2 Bake', '3 Brew'])
    expect(it.now('1')).toBe('2 Bake')
    it.write(['1 Tea doing', '2 Bake doing', '3 Brew done'])
    it.claims.release({ hash: 'of 1', outcome: 'abandoned' }, NOW)
    // It was left, whatever became of what was there before.
    expect(it.claimNext({ actor: 'eve' })).toBe('tea/2')
    expect(it.now('1')).toBe('claim_lost')
  })
})

describe('a claim of a task without a number', () => {
  it('goes with its text, which is edited in its place', () => {
    const it = lists('1 Shop', '- Bake', '- Brew')
    it.claim('text-Bake')
    it.write(['1 Shop', '- Bake bread', '- Brew'])
    expect(it.now('text-Bake')).toBe('text-Bake bread Bake bread')
    // The new text is its own now.
    it.write(['1 Shop', '- Brew'])
    it.write(['1 Shop', '- Bake bread', '- Brew'])
    expect(it.now('text-Bake')).toBe('text-Bake bread Bake bread')
  })

  it.each<[string, string[]]>([
    ['another went, too', ['- Bake bread', '1 Shop']],
    ['two came', ['- Bake bread', '- Brew', '- Boil']],
    ['another place has it', ['- Brew', '- Bake bread']],
    ['what came is closed', ['- Bake bread done', '- Brew']],
  ])('ends where %s', (_name, after) => {
    const it = lists('- Bake', '- Brew')
    it.claim('text-Bake')
    it.write(after)
    expect(it.now('text-Bake')).toBe('text-Bake Bake deleted')
  })
})

describe('a claim of a file that is renumbered', () => {
  it('goes to the one task of the board that has its title', () => {
    const task = (id: string, title: string) => taskRecord(id, { status: 'todo', title })
    const it = claimBoard(CONFIG, task('B-1', 'Bake'), task('B-2', 'Brew'))
    it.claim({ hash: 'ada', task: 'B-2' })
    it.change({ deletes: ['task:B-2'], upserts: [task('B-7', 'Brew')] })
    expect(it.claims.renew({ hash: 'ada' }, NOW)).toMatchObject({
      ok: true,
      answer: { task: 'B-7', title: 'Brew', expiresAt: NOW + TTL },
    })
  })
})
