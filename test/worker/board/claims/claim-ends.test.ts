// An end that is taken back: histories of files that git, tools and people make, with a clock.

import { describe, expect, it } from 'vitest'
import type { ClaimRequest } from '../../../../worker/board/claims/claim-calls.ts'
import { BOARD_SCHEMA } from '../../../../worker/board/repository/board-tables-sqlite.ts'
import { openSql } from '../../../../worker/shared/sql-node.ts'
import { CONFIG, claimBoard, NOW, publisher, todo } from '../../../support/claim-board.ts'
import { taskRecord } from '../../../support/edge.ts'

const TTL = 600_000
const CLOSED_MS = 120_000
const GRACE_MS = 30_000

const task = (status: string, title = 'Bake') =>
  taskRecord('A-1', { status, title, ready: status !== 'done' })
const away = { deletes: ['task:A-1' as const] }
const reads = (status: string, title?: string) => ({ upserts: [task(status, title)] })

/** Ada holds A-1, and said begun. Time goes on with each step, and the sidecar reports. */
function held(fields: Partial<ClaimRequest> = {}) {
  const board = claimBoard(CONFIG, task('todo'), todo('A-2'))
  let now = NOW
  const wait = (ms: number) => {
    for (const end = now + ms; now < end; ) {
      now += Math.min(20_000, end - now)
      board.sync(now)
    }
  }
  board.claim({ hash: 'ada', task: 'A-1', ttlMs: TTL, ...fields }, now)
  board.change(reads('doing'), now)
  const renew = () => board.claims.renew({ hash: 'ada' }, now)
  return {
    ...board,
    wait,
    /** The clock goes on, and nothing is heard of the sidecar. */
    jump(ms: number) {
      now += ms
    },
    change: (parts: Parameters<typeof board.change>[0]) => board.change(parts, now),
    renew,
    release: (outcome: 'done' | 'abandoned', more: object = { hash: 'ada' }) =>
      board.claims.release({ hash: 'ada', outcome, ...more }, now),
    given: (asked: Partial<ClaimRequest> = {}) => board.given({ actor: 'bob', ...asked }, now),
    /** What ada is told: it holds, its end may be taken back, how it ended, or that it is lost. */
    told: () => {
      const answer = renew()
      if (!answer.ok) return answer.reason
      const { end, isReturning } = answer.answer
      if (!end) return 'held'
      return isReturning ? `${end.outcome}, returning` : end.outcome
    },
    /** Without a renewal. */
    health: () => board.sessions().find(({ id }) => id === `claim-${NOW}`)?.health,
  }
}
type Held = ReturnType<typeof held>

describe('a claim whose task is away', () => {
  it('ends at once, is nobody else’s, and is valid in the very change that brings its task back', () => {
    const it = held()
    it.change(away)
    expect(it.health()).toBe('canceled')
    expect(it.renew()).toMatchObject({
      ok: true,
      answer: { task: 'A-1', title: 'Bake', end: { outcome: 'deleted' }, isReturning: true },
    })
    expect(it.given({ task: 'A-1' })).toBe('claimed')
    expect(it.given({ task: 'A-1', force: true, actor: 'ada' })).toBe('claimed')
    expect(it.given()).toBe('A-2')
    it.wait(150)
    const { frames } = it.change(reads('doing'))
    expect(it.health()).toBe('active')
    expect(frames.join('')).toContain('session-changed')
    expect(it.told()).toBe('held')
    expect(it.task('A-1')).toMatchObject({ executionState: 'active', status: 'doing' })
    expect(it.given({ task: 'A-1', actor: 'eve' })).toBe('claimed')
  })

  it.each<[string, (it: Held) => void]>([
    [
      'in a save that keeps a backup',
      (it) => {
        it.change(away)
        it.wait(150)
      },
    ],
    [
      'in a stash, for as long as its holder renews',
      (it) => {
        it.change(away)
        for (let n = 0; n < 6; n++) {
          it.wait(300_000)
          expect(it.told()).toBe('deleted, returning')
        }
      },
    ],
    [
      'in a switch to a branch that never had it, and a tag of Task Master that is away',
      (it) => {
        it.change({ deletes: ['task:A-1', 'task:A-2'] })
        it.wait(1_000)
        it.change({ upserts: [todo('B-1')] })
        it.wait(60_000)
        it.change({ deletes: ['task:B-1'], upserts: [todo('A-2')] })
      },
    ],
    [
      'in a rebase, again and again',
      (it) => {
        for (let n = 0; n < 20; n++) {
          it.change(away)
          it.wait(45_000)
          it.change(reads(n % 2 ? 'todo' : 'doing'))
          expect(it.health()).toBe('active')
          expect(it.told()).toBe('held')
        }
        it.change(away)
        it.wait(1_000)
      },
    ],
    [
      'in a bisect, where it also had another title, and was closed',
      (it) => {
        it.change(away)
        it.wait(10_000)
        it.change(reads('doing', 'Bake bread'))
        expect(it.told()).toBe('deleted, returning')
        expect(it.given({ task: 'A-1', force: true })).toBe('claimed')
        it.wait(10_000)
        it.change(reads('done', 'Bake bread'))
        it.wait(10_000)
        it.change(away)
        it.wait(10_000)
      },
    ],
    [
      'while a folder is replaced in parts',
      (it) => {
        it.change({ deletes: ['task:A-1'], more: true })
        expect(it.told()).toBe('held')
        it.change({ deletes: ['task:A-2'] })
        it.wait(3_000)
        it.change({ upserts: [todo('A-2')], more: true })
        expect(it.told()).toBe('deleted, returning')
      },
    ],
    [
      'while its sidecar is offline for a day',
      (it) => {
        it.change(away)
        it.wait(60_000)
        it.jump(86_400_000)
        expect(it.given({ task: 'A-1' })).toBe('claimed')
        it.wait(1)
        it.wait(500_000)
      },
    ],
  ])('comes back %s', (_name, become) => {
    const it = held()
    become(it)
    it.change(reads('doing'))
    expect(it.health()).toBe('active')
    expect(it.told()).toBe('held')
    expect(it.given({ task: 'A-1', force: true })).toBe('claimed')
  })

  it.each<[string, (it: Held) => void, string]>([
    ['its lease is over', (it) => it.wait(TTL), 'deleted'],
    ['its holder left it', (it) => it.release('abandoned'), 'abandoned'],
    ['its holder said that it is done', (it) => it.release('done'), 'done'],
    [
      'a person left it',
      (it) => it.release('abandoned', { hash: undefined, session: `claim-${NOW}` }),
      'claim_lost',
    ],
    ['its holder has taken another', (it) => it.given({ actor: 'ada' }), 'deleted'],
  ])('does not come back where %s', (_name, become, expected) => {
    const it = held()
    it.change(away)
    become(it)
    it.change(reads('doing'))
    expect(it.health()).not.toBe('active')
    expect(it.told()).toBe(expected)
    // Not what is done; all else is free, whatever it says, until it says something else.
    expect(it.given({ task: 'A-1' })).toBe(expected === 'done' ? 'not_ready' : 'A-1')
    if (expected !== 'done') expect(it.told()).toBe('claim_lost')
  })

  it('leaves it free although it says begun, until that changes', () => {
    const it = held()
    it.change(away)
    it.release('abandoned')
    it.change(reads('doing'))
    it.change(reads('reviewed'))
    expect(it.given({ task: 'A-1' })).toBe('not_ready')
    it.change(reads('doing'))
    expect(it.given({ task: 'A-1' })).toBe('A-1')
  })

  it('that is killed while it is away leaves it to others, also where it was away in parts', () => {
    const it = held()
    it.change({ ...away, more: true })
    it.release('abandoned')
    it.change({})
    it.wait(1_000)
    it.change(reads('doing'))
    expect(it.given({ task: 'A-1' })).toBe('A-1')
  })

  it('may hold as many others as it was given, and no more', () => {
    const it = held({ max: 2 })
    it.change(away)
    expect(it.given({ actor: 'ada', max: 2 })).toBe('A-2')
    it.change(reads('doing'))
    expect(it.health()).toBe('active')
  })

  it('is asked for again in vain: it holds nothing now', () => {
    const it = held()
    it.change(away)
    expect(it.given({ actor: 'ada', hash: 'ada' })).toBe('claim_lost')
    expect(it.given({ actor: 'ada' })).toBe('A-2')
  })
})

describe('a claim whose task reads closed', () => {
  it('is finished, and back where a card was dragged by mistake', () => {
    const it = held()
    it.change(reads('done'))
    expect(it.health()).toBe('finished')
    expect(it.told()).toBe('closed, returning')
    expect(it.given({ task: 'A-1' })).toBe('claimed')
    it.wait(CLOSED_MS - 1)
    it.change(reads('doing'))
    expect(it.told()).toBe('held')
  })

  it('is over after two minutes, however often it is renewed', () => {
    const it = held()
    it.change(reads('done'))
    it.wait(CLOSED_MS - 1)
    expect(it.told()).toBe('closed, returning')
    it.wait(1)
    expect(it.told()).toBe('closed')
    expect(it.given({ task: 'A-1' })).toBe('closed')
    it.change(reads('todo'))
    expect(it.health()).toBe('finished')
    expect(it.given({ task: 'A-1' })).toBe('A-1')
    // It holds nothing, and is told so.
    expect(it.told()).toBe('claim_lost')
    expect(it.release('abandoned')).toMatchObject({
      ok: true,
      answer: { end: { outcome: 'closed' } },
    })
  })

  it('is never longer than its lease', () => {
    const it = held({ ttlMs: 60_000 })
    it.change(reads('done'))
    it.wait(60_000)
    it.change(reads('doing'))
    expect(it.health()).toBe('finished')
  })

  it('gives its holder the next one, and does not come back beside it', () => {
    const it = held()
    it.change(reads('done'))
    expect(it.given({ actor: 'ada' })).toBe('A-2')
    it.change(reads('doing'))
    expect(it.told()).toBe('closed')
  })

  it.each<[string, (it: Held) => void]>([
    [
      'and was moved to an archive meanwhile',
      (it) => {
        it.change(away)
        it.wait(400)
        it.change(reads('done'))
      },
    ],
    [
      'and goes then',
      (it) => {
        it.change(reads('done'))
        it.change(away)
      },
    ],
    ['and its agent exits', (it) => it.change(reads('done'))],
  ])('%s is finished, whatever its holder says, and keeps its first summary', (_name, become) => {
    const it = held()
    become(it)
    for (const summary of [undefined, 'baked', 'burnt']) {
      const more = summary === undefined ? {} : { summary }
      expect(it.release('abandoned', { hash: 'ada', ...more })).toMatchObject({
        ok: true,
        answer: { end: { outcome: 'closed' } },
      })
    }
    expect(it.sessions()).toMatchObject([{ health: 'finished', summary: 'baked' }])
    it.change(reads('doing'))
    expect(it.health()).toBe('finished')
  })

  it('is closed first and released second, with a summary', () => {
    const it = held()
    it.change(reads('done'))
    const answer = it.release('done', { hash: 'ada', summary: 'baked' })
    expect(answer).toMatchObject({ ok: true, answer: { end: { outcome: 'done', at: NOW } } })
    expect(it.sessions()).toMatchObject([{ health: 'finished', summary: 'baked' }])
    expect(it.given({ task: 'A-1' })).toBe('closed')
  })

  it('is ended by a person: finished, and lost to its holder', () => {
    const it = held()
    it.change(reads('done'))
    it.release('abandoned', { hash: undefined, session: `claim-${NOW}` })
    expect(it.told()).toBe('claim_lost')
    it.change(reads('doing'))
    expect(it.health()).toBe('finished')
    expect(it.release('done', { hash: 'ada', summary: 'baked' })).toMatchObject({ ok: true })
  })
})

describe('the time in which an end may be taken back', () => {
  it.each<[string, (it: Held) => void, number]>([
    ['stands while the sidecar is offline', (it) => it.jump(3_600_000), GRACE_MS],
    ['stands after it ended in order', (it) => it.jump(50_000), GRACE_MS],
    ['runs while the sidecar is there', (it) => it.wait(CLOSED_MS / 2), -CLOSED_MS / 2],
  ])('%s', (_name, become, more) => {
    for (const late of [false, true]) {
      const it = held()
      it.change(reads('done'))
      become(it)
      it.wait(1)
      it.wait(CLOSED_MS + more - (late ? 0 : 2))
      it.change(reads('doing'))
      expect(it.health()).toBe(late ? 'finished' : 'active')
    }
  })

  it('stands during a first publication', () => {
    const sql = openSql(':memory:')
    const before = publisher(sql)
    before.change({ upserts: [CONFIG, task('todo')] })
    const asked = { hash: 'ada', actor: 'ada', ttlMs: TTL, max: 1, force: false }
    before.claims.claim(asked, NOW)
    before.change(reads('done'))
    // Another version drops the board, and reads it for an hour.
    sql.all('UPDATE board_schema SET version = ?', BOARD_SCHEMA + 1)
    const { change, claims, sessions } = publisher(sql)
    const reading = { done: 1, total: 2 }
    change({ upserts: [CONFIG], more: true, reading }, NOW + 1_800_000)
    const renewed = claims.renew({ hash: 'ada' }, NOW + 3_600_000)
    expect(renewed).toMatchObject({ ok: true, answer: { isReturning: true } })
    change({ upserts: [task('done')] }, NOW + 3_600_000)
    change(reads('doing'), NOW + 3_600_000 + CLOSED_MS)
    expect(sessions()).toMatchObject([{ health: 'active' }])
  })

  it('is no longer than its own where a clock was hours ahead', () => {
    const it = held()
    it.wait(10_800_000)
    it.renew()
    it.change(away)
    it.jump(-10_800_000)
    it.wait(1)
    expect(it.given({ task: 'A-1' })).toBe('claimed')
    it.wait(TTL)
    expect(it.given({ task: 'A-1' })).toBe('not_found')
  })
})

describe('a claim whose task is away while the clock jumps', () => {
  it('is back where it was a day ahead, a day behind, and right again before the sidecar reported', () => {
    const DAY = 86_400_000
    const it = held()
    it.change(away)
    it.jump(DAY)
    it.wait(1)
    it.jump(-2 * DAY)
    expect(it.told()).toBe('deleted, returning')
    it.jump(DAY)
    expect(it.told()).toBe('deleted, returning')
    it.change(reads('doing'))
    expect(it.told()).toBe('held')
  })
})

describe('a release as done', () => {
  it('is as young as when the clock is right again that was hours ahead', () => {
    const it = held()
    it.change(reads('todo'))
    it.wait(10_800_000)
    it.renew()
    it.release('done')
    it.jump(-10_800_000)
    expect(it.given({ task: 'A-1' })).toBe('not_ready')
    it.wait(60_000)
    expect(it.given({ task: 'A-1' })).toBe('A-1')
  })

  it('is offered again soon after a copy was opened by a clock that was hours ahead', () => {
    const it = held({ max: 2 })
    it.release('done')
    it.wait(10_800_000)
    it.change(reads('todo'))
    it.jump(-10_800_000)
    it.claims.expire(NOW + 5)
    expect(it.nextDue()).toBe(NOW + 5 + 5_000)
  })
})

describe('a lease', () => {
  it('is no longer than its own where a clock was hours ahead', () => {
    const it = held()
    it.wait(10_800_000)
    it.renew()
    it.jump(-10_800_000)
    expect(it.claims.expire(NOW + 5)).toEqual([])
    expect(it.nextDue()).toBe(NOW + 5 + TTL)
    expect(it.claims.expire(NOW + 5 + TTL)).toHaveLength(1)
  })
})
