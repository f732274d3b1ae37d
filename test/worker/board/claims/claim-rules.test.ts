// Who gets which task, and what is told of it. Each test says what time it is.

import { describe, expect, it } from 'vitest'
import type { ClaimRequest, Release } from '../../../../worker/board/claims/claim-calls.ts'
import { openRepository } from '../../../../worker/board/repository/open-repository-sqlite.ts'
import type { ChangesRequest } from '../../../../worker/board/wire.ts'
import { openSql } from '../../../../worker/shared/sql-node.ts'
import {
  type ClaimBoard as Board,
  claimBoard as board,
  CONFIG,
  NOW,
  TTL,
  todo,
} from '../../../support/claim-board.ts'
import { sessionRecord, taskRecord } from '../../../support/edge.ts'

const SESSION = `claim-${NOW}`
const store = { state: 'present', version: '0' } as const
const timeText = (ms: number) => new Date(ms).toISOString()

const ended = (outcome: Release['outcome'], more = {}) => ({ hash: 'ada', outcome, ...more })

describe('the session that a claim is', () => {
  const live = { heartbeatAt: timeText(NOW) }
  const claim = (expiresAt: number) => ({ generation: NOW, expiresAt: timeText(expiresAt) })
  const active = {
    id: SESSION,
    task: 'A-1',
    attempt: SESSION,
    actor: 'ada',
    startedAt: timeText(NOW),
    status: 'in_progress',
    health: 'active',
    live,
    claim: claim(NOW + TTL),
  }
  const told = { client: 'codex', model: 'm', branch: 'b', tree: 'feat' }
  const finished = { status: 'finished', health: 'finished', endedAt: timeText(NOW + 5) }
  const canceled = (cancelReason: string, at = NOW) => {
    return { status: 'canceled', health: 'canceled', endedAt: timeText(at), cancelReason }
  }

  it.each<[string, object, (it: Board) => unknown]>([
    ['begins', {}, () => undefined],
    [
      'is renewed',
      {
        activeAt: timeText(NOW + 5),
        live: { heartbeatAt: timeText(NOW + 5), progress: 'half' },
        claim: claim(NOW + 5 + TTL),
      },
      ({ claims }) => claims.renew({ hash: 'ada', progress: 'half' }, NOW + 5),
    ],
    [
      'is renewed for longer',
      { live: { heartbeatAt: timeText(NOW + 5) }, claim: claim(NOW + 10) },
      ({ claims }) => claims.renew({ hash: 'ada', ttlMs: 5 }, NOW + 5),
    ],
    ['expires', { health: 'stalled' }, ({ claims }) => claims.expire(NOW + TTL)],
    ['is done', finished, ({ claims }) => claims.release(ended('done'), NOW + 5)],
    [
      'is left',
      { ...canceled('abandoned', NOW + 5), summary: 'no time' },
      ({ claims }) => claims.release(ended('abandoned', { summary: 'no time' }), NOW + 5),
    ],
    [
      'is left, after it expired',
      canceled('abandoned', NOW + TTL),
      ({ claims }) => {
        claims.expire(NOW + TTL)
        claims.release(ended('abandoned'), NOW + TTL)
      },
    ],
    [
      'is closed with its task',
      { ...finished, endedAt: timeText(NOW) },
      ({ change }) => change({ upserts: [taskRecord('A-1', { status: 'done' })] }),
    ],
    ['goes with its task', canceled('deleted'), ({ change }) => change({ deletes: ['task:A-1'] })],
  ])('has what its agent said, and what became of it, where it %s', (_name, shown, become) => {
    for (const by of [{}, told]) {
      const it = board(CONFIG, todo('A-1'))
      it.claim({ hash: 'ada', ...by })
      become(it)
      const session = { ...active, ...shown, ...by }
      const worktree = 'tree' in by && { worktree: 'feat' }
      expect(it.sessions()).toStrictEqual([{ ...session, live: { ...session.live, ...worktree } }])
    }
  })

  it('is over where another takes its task', () => {
    const it = board(CONFIG, todo('A-1'))
    it.claim({ hash: 'ada' })
    const { claims } = it
    claims.expire(NOW + TTL)
    expect(it.task('A-1')).toMatchObject({ executionState: 'stalled', sessionId: SESSION })
    it.claim({ actor: 'bob' }, NOW + TTL + 1)
    expect(it.sessions()).toMatchObject([{ actor: 'bob' }, canceled('replaced', NOW + TTL + 1)])
  })
})

describe('a claim', () => {
  it('waits for a board that is published, and for all of it where it names no task', () => {
    const { repository, claims } = openRepository(openSql(':memory:'))
    const reasonOf = (task?: string) => {
      const asked = { hash: 'h', actor: 'ada', ttlMs: TTL, max: 1, force: false }
      const answer = claims.claim({ ...asked, ...(task !== undefined && { task }) }, NOW)
      return answer.ok ? '' : answer.reason
    }
    expect([reasonOf(), reasonOf('A-1')]).toEqual(['unpublished', 'unpublished'])
    const began = repository.sync({ step: 'root', run: null, root: '1'.repeat(32), store }, NOW)
    if (!began.ok || began.answer.step !== 'root') throw new Error('no sync')
    const { run, epoch } = began.answer
    const part: ChangesRequest = {
      run,
      epoch,
      batch: 1,
      upserts: [todo('A-1')],
      deletes: [],
      more: true,
      reading: { done: 1, total: 2 },
    }
    repository.changes(part, NOW)
    expect([reasonOf(), reasonOf('A-1')]).toEqual(['nothing_ready', 'unpublished'])
  })

  const TASKS = [
    todo('A-1', { assignee: 'eve' }),
    todo('A-2', { labels: ['x', 'y'] }),
    todo('A-3', { parent: 'E' }),
    todo('A-4', { assignee: 'eve', assignees: ['eve', 'bob'] }),
  ]
  it.each<[Partial<ClaimRequest>, string]>([
    [{}, 'A-2'],
    [{ label: 'y' }, 'A-2'],
    [{ label: 'z' }, 'nothing_ready'],
    [{ parent: 'E' }, 'A-3'],
    [{ actor: 'eve' }, 'A-1'],
    [{ assignee: 'eve' }, 'A-1'],
    [{ assignee: 'zoe' }, 'A-2'],
    [{ task: 'A-1' }, 'not_ready'],
    [{ task: 'A-1', assignee: 'eve' }, 'A-1'],
    [{ task: 'A-4' }, 'not_ready'],
    [{ task: 'A-4', actor: 'bob' }, 'A-4'],
    [{ task: 'A-4', assignee: 'bob' }, 'A-4'],
  ])('for %j on a board without a configuration is %s', (fields, expected) => {
    const it = board(...TASKS)
    expect(it.given(fields)).toBe(expected)
    // Nobody knows what closes a task, so nothing ends.
    it.change({ upserts: [todo('A-9')] })
    expect(it.sessions().every(({ health }) => health === 'active')).toBe(true)
  })

  const doing = taskRecord('A-1', { status: 'doing' })
  it.each<[string, number, string, (it: Board) => unknown]>([
    ['expired while it said begun', TTL, 'A-1', ({ change }) => change({ upserts: [doing] })],
    [
      'was left while it said begun',
      0,
      'A-1',
      ({ change, claims }) => {
        change({ upserts: [doing] })
        claims.release(ended('abandoned'), NOW)
      },
    ],
    [
      'was left, and says begun since',
      0,
      'nothing_ready',
      ({ change, claims }) => {
        claims.release(ended('abandoned'), NOW)
        change({ upserts: [doing] })
      },
    ],
    [
      'was done, and says begun for a minute',
      60_000,
      'nothing_ready',
      ({ change, claims }) => {
        change({ upserts: [doing] })
        claims.release(ended('done'), NOW)
      },
    ],
    [
      'was done, and does not say so for less than a day',
      86_399_999,
      'nothing_ready',
      ({ claims }) => claims.release(ended('done'), NOW),
    ],
    [
      'was done, and does not say so for a day',
      86_400_000,
      'A-1',
      ({ claims }) => claims.release(ended('done'), NOW),
    ],
  ])('of a task that %s (%i ms) is %s', (_name, ms, expected, become) => {
    const it = board(CONFIG, todo('A-1'))
    it.claim({ hash: 'ada' })
    become(it)
    expect(it.given({ actor: 'bob' }, NOW + ms)).toBe(expected)
  })

  it.each<[Partial<ClaimRequest>, boolean]>([
    [{}, true],
    [{ task: 'A-2', label: 'x', parent: 'E', assignee: 'eve' }, true],
    [{ task: 'A-1' }, false],
    [{ task: 'A-9' }, false],
    [{ label: 'z' }, false],
    [{ parent: 'F' }, false],
  ])('that holds A-2, and is asked again for %j, is the same: %s', (fields, isSame) => {
    const it = board(todo('A-1'), todo('A-2', { labels: ['x', 'y'], parent: 'E' }))
    it.claim({ hash: 'ada', task: 'A-2' })
    const same = { ok: true, answer: { task: 'A-2', isRepeated: true } }
    const other = { ok: false, reason: 'already_holding', task: 'A-2' }
    expect(it.claim({ hash: 'ada', ...fields })).toMatchObject(isSame ? same : other)
  })

  it('is one of as many as its actor may hold', () => {
    const it = board(todo('A-1'), todo('A-2'), todo('A-3'))
    expect([it.given({ max: 2 }), it.given({ max: 2 })]).toEqual(['A-1', 'A-2'])
    expect(it.claim({ max: 2 })).toMatchObject({ reason: 'already_holding', task: 'A-1' })
    expect(it.given({ max: 3 })).toBe('A-3')
  })

  it('is lost to nobody by name where it only expired, and knows no task that goes just now', () => {
    const it = board(todo('A-1'))
    it.claim({ hash: 'ada' })
    it.change({ deletes: ['task:A-1'], more: true })
    expect(it.claim({ hash: 'ada' })).toMatchObject({ ok: true, answer: { json: '{}' } })
    const lost = { ok: false, reason: 'claim_lost', generation: NOW, frames: [] }
    expect({ ...it.claim({ hash: 'ada' }, NOW + TTL), frames: [] }).toEqual(lost)
  })

  it('is told when it says something new, or comes back, and not each time', () => {
    const { claims, claim, epoch } = board(todo('A-1'))
    const told = (ms: number, progress?: string) =>
      claims.renew({ hash: 'ada', ...(progress !== undefined && { progress }) }, NOW + ms).frames
    const frame = expect.stringMatching(new RegExp(`^id: ${epoch}-\\d+\ndata: .*"${SESSION}"`))
    expect(claim({ hash: 'ada' }).frames).toEqual([frame])
    const said = [told(1), told(2, 'half'), told(3, 'half'), told(4), told(5, 'whole')]
    expect(said).toEqual([[], [frame], [], [], [frame]])
    expect(claims.expire(NOW + 5 + TTL)).toEqual([frame])
    expect([told(6 + TTL), told(7 + TTL)]).toEqual([[frame], []])
  })

  it('has 30 s more where its end is seen more than 5 s late', () => {
    const late = (ms: number) => {
      const { claims, claim, nextDue } = board(todo('A-1'))
      claim()
      return [claims.expire(NOW + TTL + ms).length, nextDue()]
    }
    expect(late(5_000)).toEqual([1, undefined])
    expect(late(5_001)).toEqual([0, NOW + TTL + 35_001])
  })

  it('that ends before the others is what is due next', () => {
    const { claim, nextDue } = board(todo('A-1'), todo('A-2'))
    claim({ ttlMs: 60_000 })
    claim({ actor: 'bob' })
    expect(nextDue()).toBe(NOW + TTL)
  })

  it('gives the lists another tag, which none had before', () => {
    const it = board(todo('A-1'), todo('A-2'))
    const tags = [it.tags()]
    for (const step of [
      () => it.claim(),
      () => it.change({ upserts: [todo('A-2', { title: 'Two' }), sessionRecord('ses_1')] }),
      () => it.claim({ actor: 'bob' }),
      () => it.change({ deletes: ['task:A-2'], upserts: [sessionRecord('ses_1', { actor: 'x' })] }),
    ]) {
      step()
      tags.push(it.tags())
    }
    expect(new Set(tags.flat()).size).toBe(2 * tags.length)
  })
})

describe('what has ended', () => {
  it.each<[string, object, (it: Board) => unknown]>([
    [
      'is told as done, whatever its holder says of it later',
      { end: { outcome: 'done' } },
      (it) => {
        it.claims.release(ended('done'), NOW)
        it.claims.release(ended('abandoned'), NOW)
      },
    ],
    [
      'is told as left, where nobody works on it',
      { end: { outcome: 'abandoned' } },
      (it) => it.claims.release(ended('abandoned'), NOW),
    ],
  ])('%s', (_name, answer, become) => {
    const it = board(CONFIG, todo('A-1'))
    it.claim({ hash: 'ada' })
    become(it)
    expect(it.claims.renew({ hash: 'ada' }, NOW)).toMatchObject({ ok: true, answer })
  })

  it('by somebody else is lost to its holder, and told again to who ended it', () => {
    const { claim, claims } = board(todo('A-1'))
    claim({ hash: 'ada' })
    for (const session of [`x${SESSION}`, `${SESSION}x`, 'claim-0', '']) {
      const unknown = { ok: false, reason: 'unknown_claim' }
      expect(claims.release({ session, outcome: 'done' }, NOW)).toMatchObject(unknown)
    }
    const end = { outcome: 'done', at: NOW }
    for (const ms of [0, 5]) {
      const answer = claims.release({ session: SESSION, outcome: 'done' }, NOW + ms)
      expect(answer).toMatchObject({ ok: true, answer: { end } })
    }
    expect(claims.renew({ hash: 'ada' }, NOW)).toMatchObject({ ok: false, reason: 'claim_lost' })
  })

  it('and is kept no longer is lost to its holder for a day, and then unknown', () => {
    const it = board(todo('A-1'))
    it.claim({ hash: 'ada', actor: 'ada' })
    it.claims.release(ended('abandoned'), NOW)
    const claimedByBob = (n: number) => {
      const hash = `bob-${n}`
      it.claim({ hash, actor: 'bob' }, NOW + n)
      it.claims.release({ hash, outcome: 'abandoned' }, NOW + n)
    }
    const isKept = () => it.sessions().some(({ id }) => id === SESSION)
    claimedByBob(1)
    // As many as would take seconds to claim: a thousand that ended are kept.
    it.sql.all(`WITH RECURSIVE n (n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM n WHERE n < 998)
      INSERT INTO claims SELECT generation + n, secret || n, task, actor, status, health,
        started_at, expires_at, ended, id || n, hash, seq, json, claim
        FROM claims, n WHERE actor = 'bob'`)
    expect(isKept()).toBe(true)
    const last = NOW + 1_000
    claimedByBob(1_000)
    it.claim({ hash: 'eve', actor: 'eve' }, last)
    const day = 86_400_000
    const answers = (now: number, ofActor?: string) => {
      const as = ofActor === undefined ? {} : { ofActor }
      return [
        it.claims.renew({ hash: 'ada', ...as }, now),
        it.claims.release({ ...ended('done'), ...as }, now),
      ].map((answer) => (answer.ok ? 'ok' : answer.reason))
    }
    expect(isKept()).toBe(false)
    expect(answers(last)).toEqual(['claim_lost', 'claim_lost'])
    expect(it.claims.renew({ hash: 'ada' }, last)).toMatchObject({ generation: NOW, by: 'eve' })
    expect(answers(last, 'bob')).toEqual(['forbidden', 'forbidden'])
    expect(it.given({ hash: 'ada' }, last)).toBe('claim_lost')
    expect(answers(last + day - 1)).toEqual(['claim_lost', 'claim_lost'])
    expect(answers(last + day)).toEqual(['unknown_claim', 'unknown_claim'])
  })
})
