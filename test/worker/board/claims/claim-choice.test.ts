// Which task a claim gets, and why it gets none. Each test says what time it is.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ClaimRequest } from '../../../../worker/board/claims/claim-calls.ts'
import { readyTasks } from '../../../../worker/board/tasks/free-tasks.ts'
import { whySentence } from '../../../../worker/board/tasks/why-not.ts'
import type { DataRecord, Task } from '../../../../worker/board/wire.ts'
import { claimBoard as board, CONFIG, NOW, TTL, todo } from '../../../support/claim-board.ts'
import { taskRecord } from '../../../support/edge.ts'

type Mark = NonNullable<Task['trees']>[number]
const mark = (tree: string, fields: Partial<Mark> = {}): Mark => ({
  tree,
  dir: `/${tree}`,
  ...fields,
})
const configOf = (fields: Partial<(DataRecord & { kind: 'board' })['board']>): DataRecord =>
  CONFIG.kind === 'board' ? { ...CONFIG, board: { ...CONFIG.board, ...fields } } : CONFIG
const closed = (id: string, fields: Partial<Task> = {}) =>
  taskRecord(id, { status: 'done', ready: false, ...fields })
const DAY = 86_400_000
const HOUR = 3_600_000

/** The tasks that agents get one after the other, each keeping what it has. */
function order(records: DataRecord[], fields: Partial<ClaimRequest> = {}): string[] {
  const it = board(...records)
  const given: string[] = []
  for (let n = 0; n < records.length; n++) {
    const id = it.given({ actor: `agent-${n}`, ...fields })
    if (id === 'nothing_ready' || id === 'already_holding') break
    given.push(id)
  }
  return given
}

describe('the next task', () => {
  it('is of a parent in which nobody else holds a claim, before any rank', () => {
    const part = (id: string, parent: string, rank: number) => todo(id, { parent, rank })
    const records = [part('A-1', 'E', 1), part('A-2', 'E', 2), part('A-3', 'F', 1), todo('A-4')]
    expect(order([CONFIG, ...records])).toEqual(['A-1', 'A-3', 'A-4', 'A-2'])
    // One's own claim keeps nobody out.
    expect(order([CONFIG, ...records], { actor: 'ada', max: 4 })).toEqual([
      'A-1',
      'A-2',
      'A-3',
      'A-4',
    ])
  })

  it.each(['kiro', 'openspec', 'spec-kit', 'bmad'] as const)(
    'is the first free one of the list with the most urgent one, in %s',
    (layout) => {
      const part = (id: string, rank: number, fields: Partial<Task> = {}) =>
        todo(id, { parent: id.slice(0, 3), rank, ...fields })
      const records = [
        part('tea/1', 1),
        part('tea/2', 2, { optional: true }),
        part('pot/9', 1),
        part('pot/1', 2, { priority: 'P1' }),
        part('mug/1', 1, { ready: false }),
      ]
      expect(order([configOf({ layout }), ...records], { actor: 'ada', max: 9 })).toEqual([
        'pot/9',
        'pot/1',
        'tea/1',
        'tea/2',
      ])
      const labelled = part('tea/3', 3, { labels: ['x'] })
      expect(order([configOf({ layout }), ...records, labelled], { label: 'x' })).toEqual(['tea/3'])
    },
  )

  it('is of the tag that Task Master works in, or of the one that is asked for', () => {
    const records = [
      todo('a:1', { tag: 'a', priority: 'high' }),
      todo('b:1', { tag: 'b' }),
      todo('b:2', { tag: 'b' }),
    ]
    const config = configOf({ layout: 'task-master', currentTag: 'b' })
    expect(order([config, ...records])).toEqual(['b:1', 'b:2', 'a:1'])
    expect(order([config, ...records], { tag: 'a' })).toEqual(['a:1'])
  })

  it('is last what its actor left or let expire, for an hour or until it changes', () => {
    const left = (end: 'abandoned' | 'expired') => {
      const it = board(CONFIG, todo('A-1'), todo('A-2'))
      it.claim({ hash: 'ada' })
      if (end === 'expired') it.claims.expire(NOW + TTL)
      else it.claims.release({ hash: 'ada', outcome: end }, NOW + TTL)
      return it
    }
    for (const end of ['abandoned', 'expired'] as const) {
      const at = NOW + TTL
      expect(left(end).given({ actor: 'bob' }, at)).toBe('A-1')
      expect(left(end).given({}, at)).toBe('A-2')
      expect(left(end).given({}, at + HOUR - 1)).toBe('A-2')
      expect(left(end).given({}, at + HOUR)).toBe('A-1')
      expect(left(end).given({ max: 2, task: 'A-1' }, at)).toBe('A-1')
      const it = left(end)
      it.change({ upserts: [todo('A-1', { title: 'Other' })] })
      expect(it.given({}, at)).toBe('A-1')
      const only = left(end)
      only.claim({ actor: 'bob', task: 'A-2' }, at)
      expect(only.given({}, at)).toBe('A-1')
    }
  })
})

describe('what its own tree has done', () => {
  it('is not offered to it, not by name either, and is where it is forced', () => {
    const it = board(CONFIG, todo('A-1', { trees: [mark('feat', { status: 'done' })] }))
    for (const tree of ['feat', 'other']) {
      expect(it.given({ tree }, NOW + DAY)).toBe('nothing_ready')
      const why = [{ kind: 'closed', tree: 'feat' }]
      expect(it.claim({ tree, task: 'A-1' })).toMatchObject({ reason: 'not_ready', why })
    }
    expect(it.given({ tree: 'feat', task: 'A-1', force: true })).toBe('A-1')
  })

  it('counts as closed for what waits for it there, and nowhere else', () => {
    const done = { trees: [mark('feat', { status: 'done' })] }
    const it = board(
      CONFIG,
      todo('A-1', done),
      todo('A-2', { deps: ['A-1', 'A-0'], ready: false }),
      todo('A-3', { deps: ['A-1', 'A-2'], ready: false }),
      todo('A-4', { deps: ['A-1'], ready: false, held: true }),
      closed('A-0'),
    )
    expect(it.given({ tree: 'other' })).toBe('nothing_ready')
    const why = [{ kind: 'waits', task: 'A-1', tree: 'feat' }]
    expect(it.claim({ tree: 'other', task: 'A-2' })).toMatchObject({ reason: 'not_ready', why })
    expect(it.given({ tree: 'feat' })).toBe('A-2')
    expect(it.given({ actor: 'bob', tree: 'feat' })).toBe('nothing_ready')
  })
})

describe('what was released as done', () => {
  function done(record = todo('A-1')) {
    const it = board(CONFIG, record)
    it.claim({ hash: 'ada', tree: 'feat' })
    it.claims.release({ hash: 'ada', outcome: 'done' }, NOW + 5)
    return { ...it, next: (at = NOW + DAY) => it.given({ actor: 'bob' }, at) }
  }
  const SHOWN = { at: new Date(NOW + 5).toISOString(), by: 'ada', session: `claim-${NOW}` }

  it('says so in its row for a day, and is given by name after a minute', () => {
    const it = done()
    expect(it.task('A-1')).toMatchObject({ ready: true, done: SHOWN })
    const soon = it.claim({ actor: 'bob', task: 'A-1' }, NOW + 5 + 59_999)
    expect(soon).toMatchObject({ reason: 'not_ready', why: [{ kind: 'closed' }] })
    expect(it.nextDue()).toBe(NOW + 5 + DAY)
    expect(it.claims.expire(NOW + 4 + DAY)).toEqual([])
    expect(it.task('A-1')).toHaveProperty('done')
    expect(it.claims.expire(NOW + 5 + DAY)).toHaveLength(1)
    expect(it.task('A-1')).not.toHaveProperty('done')
    expect(it.nextDue()).toBeUndefined()
    const named = done()
    expect(named.given({ actor: 'bob', task: 'A-1' }, NOW + 5 + 60_000)).toBe('A-1')
    expect(named.task('A-1')).not.toHaveProperty('done')
  })

  it('is not offered because its worktree went, or was closed there after the release', () => {
    const trees = [mark('feat', { status: 'doing' })]
    const record = { ...todo('A-1', { trees }), copy: '1'.repeat(32) }
    const it = done(record)
    const isClosed = { trees: [mark('feat', { status: 'done' })] }
    it.change({ upserts: [{ ...todo('A-1', isClosed), copy: record.copy }] })
    expect(it.next()).toBe('nothing_ready')
    it.change({ upserts: [{ ...todo('A-1'), file: record.copy }] })
    expect(it.next()).toBe('nothing_ready')
    expect(it.task('A-1')).toMatchObject({ done: SHOWN })
  })

  it('is offered when it was opened again: in main, in a tree, after it was merged', () => {
    const opened = done()
    opened.change({ upserts: [todo('A-1', { title: 'Again' })] })
    expect(opened.next(NOW + 4_999)).toBe('nothing_ready')
    expect(opened.next(NOW + 5_000)).toBe('A-1')
    expect(opened.task('A-1')).not.toHaveProperty('done')

    const inTree = done({ ...todo('A-1'), copy: '1'.repeat(32) })
    const trees = [mark('feat', { status: 'todo', title: 'Again' })]
    inTree.change({ upserts: [{ ...todo('A-1', { trees }), copy: '1'.repeat(32) }] })
    expect(inTree.next()).toBe('A-1')

    const merged = done()
    merged.change({ upserts: [closed('A-1')] })
    expect(merged.task('A-1')).toMatchObject({ done: SHOWN })
    merged.change({ upserts: [todo('A-1')] })
    expect(merged.next()).toBe('A-1')
  })

  it('counts where only the text of a copy changed that is open', () => {
    const trees = [mark('feat', { status: 'doing' })]
    const it = done({ ...todo('A-1', { trees }), copy: '1'.repeat(32) })
    it.change({ upserts: [{ ...todo('A-1', { trees }), copy: '1'.repeat(32) }] })
    it.claims.expire(NOW + 5_000)
    expect(it.task('A-1')).not.toHaveProperty('done')
  })

  it('is not offered for what a checkout looks like for a moment', () => {
    const it = done()
    const merged = closed('A-1')
    it.change({ upserts: [merged] }, NOW + 1_000)
    it.change({ upserts: [todo('A-1')] }, NOW + 2_000)
    it.change({ upserts: [merged] }, NOW + 6_000)
    it.change({ upserts: [todo('A-1')] }, NOW + 8_000)
    it.change({ deletes: ['task:A-1'] }, NOW + 9_000)
    it.claims.expire(NOW + 60_000)
    it.change({ upserts: [merged] }, NOW + 60_000)
    expect(it.task('A-1')).toMatchObject({ done: SHOWN })
  })

  it('stays so where its task was away, before it was released or after', () => {
    const record = todo('A-1')
    const it = done(record)
    it.change({ deletes: ['task:A-1'] })
    it.change({ upserts: [record] })
    expect(it.task('A-1')).toMatchObject({ done: SHOWN })
    const away = board(CONFIG, todo('A-1'))
    away.claim({ hash: 'ada' })
    away.change({ deletes: ['task:A-1'] })
    away.claims.release({ hash: 'ada', outcome: 'done' }, NOW + 5)
    away.change({ upserts: [todo('A-1')] })
    expect(away.task('A-1')).toMatchObject({ done: SHOWN })
  })

  it('is not laid over what another holds, whose claim a late summary leaves as it is', () => {
    const it = board(CONFIG, todo('A-1'))
    it.claim({ hash: 'ada' })
    it.change({ upserts: [closed('A-1')] })
    it.change({ upserts: [todo('A-1', { title: 'Another' })] })
    expect(it.given({ actor: 'bob' }, NOW + TTL + 1)).toBe('A-1')
    const { sessionId } = it.task('A-1')
    it.claims.release({ hash: 'ada', outcome: 'done', summary: 'It is.' }, NOW + TTL + 2)
    expect(it.task('A-1')).toMatchObject({ sessionId, executionState: 'active' })
    expect(it.task('A-1')).not.toHaveProperty('done')
  })
})

describe('the parts of a task', () => {
  const parts = [todo('A'), todo('A.1', { parent: 'A' }), todo('A.2', { parent: 'A' })]

  it('come before it, and are given with it where it is asked for', () => {
    const it = board(CONFIG, ...parts)
    expect(it.given({ task: 'A' })).toBe('A')
    const claimed = { reason: 'claimed', task: 'A', by: 'ada' }
    expect(it.claim({ actor: 'bob', task: 'A.1' })).toMatchObject(claimed)
    expect(it.claim({ actor: 'bob', task: 'A.1', force: true })).toMatchObject(claimed)
    expect(it.given({ actor: 'bob' })).toBe('nothing_ready')
    expect(it.given({ max: 2, task: 'A.1' })).toBe('A.1')
  })

  it('keep it from whoever asks for it while somebody else holds one', () => {
    const it = board(CONFIG, ...parts)
    expect(it.given()).toBe('A.1')
    const claimed = { reason: 'claimed', task: 'A.1', by: 'ada' }
    expect(it.claim({ actor: 'bob', task: 'A' })).toMatchObject(claimed)
    expect(it.given({ max: 2, task: 'A' })).toBe('A')
    expect(it.given({ actor: 'bob' })).toBe('nothing_ready')
  })

  it('are not next once it is closed, and the next is the task itself once they are', () => {
    const [, one, two] = parts
    if (!one || !two) throw new Error('no parts')
    expect(order([CONFIG, closed('A'), one, two])).toEqual([])
    expect(board(CONFIG, closed('A'), one).given({ task: 'A.1' })).toBe('A.1')
    const over = [closed('A.1', { parent: 'A' }), closed('A.2', { parent: 'A' })]
    expect(order([CONFIG, todo('A'), ...over])).toEqual(['A'])
    expect(order([configOf({ layout: 'task-master' }), todo('A'), ...over])).toEqual([])
  })
})

describe('a task whose file writes a closed status in another case', () => {
  const done = { upserts: [todo('A-1', { status: 'Done' })] }

  it('is closed by name, where it is forced, too', () => {
    const it = board(CONFIG, ...done.upserts)
    expect(it.given({ task: 'A-1' })).toBe('closed')
    expect(it.given({ task: 'A-1', force: true })).toBe('closed')
    expect(it.given()).toBe('nothing_ready')
  })

  it('ends its claim as finished', () => {
    const it = board(CONFIG, todo('A-1'))
    it.claim({ task: 'A-1' })
    it.change(done)
    expect(it.sessions()).toMatchObject([{ task: 'A-1', health: 'finished' }])
  })

  it.each([true, false])('is no open part of another task (ready: %s)', (ready) => {
    const parts = [
      todo('A-1.1', { status: 'Done', parent: 'A-1', ready }),
      todo('A-1.2', { status: 'DONE ', parent: 'A-1', ready, deps: ['A-1.1'] }),
    ]
    expect(board(CONFIG, todo('A-1'), ...parts).given()).toBe('A-1')
  })
})

it('a task that a worktree has as to do in another case is not begun there', () => {
  const config = configOf({ states: ['Icebox', 'Doing', 'Done'], closed: ['Done'] })
  const rows = [' TO DO ', 'icebox'].map((status) =>
    todo(status.trim(), { status: 'Icebox', trees: [mark('feat', { status })] }),
  )
  expect(order([config, ...rows])).toEqual(rows.map(({ id }) => id))
})

describe('why a task is not ready', () => {
  const TREE = mark('feat', { status: 'doing' })
  it.each<[string, Partial<Task>, object[], RegExp]>([
    ['waits', { deps: ['B', 'C'], ready: false }, [{ task: 'C' }], /waits for C\./],
    ['begun', { trees: [TREE] }, [{ tree: 'feat' }], /begun in the worktree feat/],
    ['begun', { status: 'doing' }, [{}], /was begun/],
    ['closed', { trees: [mark('x', { status: 'Done' })] }, [{ tree: 'x' }], /done in the worktree/],
    ['assigned', { assignee: 'eve' }, [{ to: 'eve' }], /assigned to eve/],
    ['part', { held: true, ready: false, parent: 'D' }, [{ task: 'D' }], /part of D/],
    ['held', { held: true, ready: false }, [{}], /lets nobody/],
    [
      'held',
      { held: true, ready: false, inMain: false, trees: [TREE] },
      [{ tree: 'feat' }],
      /Only the worktree feat/,
    ],
    ['shared_id', { invalid: 'x', sharesId: true, ready: false, held: true }, [{}], /Two tasks/],
    ['unreadable', { invalid: 'x', ready: false, held: true }, [{}], /cannot be read/],
    ['unreadable', { trees: [mark('x', { invalid: true })] }, [{ tree: 'x' }], /copy in the/],
  ])('is told: %s %j', (kind, fields, why, sentence) => {
    const more = [closed('B'), todo('C'), todo('D', { deps: ['C'], ready: false })]
    const it = board(CONFIG, todo('A', fields), ...more)
    const answer = it.claim({ task: 'A' })
    if (answer.ok || answer.reason !== 'not_ready') throw new Error('it was given')
    expect(answer.why).toEqual(why.map((each) => ({ kind, ...each })))
    expect(whySentence(answer.why)).toMatch(sentence)
    expect(it.given({ task: 'A', force: true })).toBe('A')
  })

  it('has all reasons, and the first is what must change first', () => {
    const fields = { deps: ['C'], ready: false, assignee: 'eve', trees: [TREE] }
    const answer = board(CONFIG, todo('A', fields), todo('C')).claim({ task: 'A' })
    const kinds = !answer.ok && answer.reason === 'not_ready' ? answer.why : []
    expect(kinds.map(({ kind }) => kind)).toEqual(['waits', 'begun', 'assigned'])
  })

  it('is no reason where an assignee is named with or without its sign', () => {
    const named = (assignee: string) => board(CONFIG, todo('A', { assignee }))
    expect(named('@codex').given({ assignee: 'codex' })).toBe('A')
    expect(named('codex').given({ assignee: '@codex' })).toBe('A')
    expect(named('@codex').given({ actor: 'codex' })).toBe('A')
    expect(named('@codex').given({ assignee: 'code' })).toBe('nothing_ready')
  })
})

it('gives no task whose part waits for it through a closed one alone', () => {
  const part = todo('C', { parent: 'A', deps: ['B', 'D'], ready: false })
  const records = [CONFIG, todo('A'), closed('B', { deps: ['A'] }), part, todo('D')]
  expect(board(...records).given()).toBe('D')
})

const ids = ['A', 'B', 'C', 'D', 'E', 'F']
const anyTask = fc.record(
  {
    status: fc.constantFrom('todo', 'todo', 'todo', 'doing', 'done', 'Done'),
    parent: fc.constantFrom('A', 'A', 'B', 'C', 'none'),
    partOf: fc.constantFrom('A', 'C', 'D', 'none'),
    deps: fc.subarray(ids, { minLength: 1, maxLength: 2 }),
    held: fc.constantFrom(undefined, undefined, true as const),
    optional: fc.constantFrom(undefined, undefined, true as const),
    folder: fc.constantFrom(undefined, undefined, undefined, 'archive'),
    rank: fc.nat(3),
    priority: fc.constantFrom('high', 'low'),
  },
  { requiredKeys: ['status', 'held', 'optional', 'folder'] },
)

it('what agents get, for whom a part of the board is read, is what clients see of all of it', () => {
  const layouts = fc.constantFrom(...(['cairn', 'kiro', 'openspec', 'task-master'] as const))
  fc.assert(
    fc.property(layouts, fc.array(anyTask, { minLength: 6, maxLength: 6 }), (layout, fields) => {
      const isDone = (id: string) => fields[ids.indexOf(id)]?.status === 'done'
      const records = fields.map(({ held, optional, folder, ...task }, at) => {
        const isHeld = held === true && task.status !== 'done'
        const ready = task.status !== 'done' && !isHeld && (task.deps ?? []).every(isDone)
        const more = {
          ...(isHeld && { held }),
          ...(optional && { optional }),
          ...(folder && { folder }),
        }
        return taskRecord(ids[at] ?? '', { ready, ...task, ...more })
      })
      const config = configOf({ layout })
      const it = board(config, ...records)
      for (let n = 0; n < ids.length; n++) {
        const rows = new Map(it.rows().map((row) => [row.id, row]))
        const shown = readyTasks(rows, config.kind === 'board' ? config.board : undefined)
        const next = shown.next(shown.tasks)
        expect(it.given({ actor: `agent-${n}` })).toBe(next?.id ?? 'nothing_ready')
      }
    }),
    { numRuns: 300 },
  )
})
