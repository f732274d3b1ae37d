import { describe, expect, it } from 'vitest'
import { digestOf, textOf } from '../../../../console/board/happened/digest.ts'
import type { ActivityRow } from '../../../../libraries/api/types.ts'

type Some = Partial<ActivityRow> & Pick<ActivityRow, 'kind'>

/** Told oldest first, answered newest first. */
const rowsOf = (...rows: Some[]): ActivityRow[] =>
  rows
    .map((row, at) => ({
      seq: at + 1,
      at: new Date(Date.UTC(2026, 2, 3, 9, at)).toISOString(),
      title: `The task ${row.task}`,
      hash: '0'.repeat(64),
      ...row,
    }))
    .reverse()

const status = (from: string | null, to: string | null, closed?: boolean) => ({
  status: [from, to],
  ...(closed !== undefined && { closed: [!closed, closed] }),
})
const finished = { health: ['active', 'finished'] }
const ada = { actor: 'root@vm:7/dim', tree: 'dim' }

describe('what happened', () => {
  it('is one line for all that an agent did to a task, with what was said last', () => {
    const { byAgent, byTask, changes } = digestOf(
      rowsOf(
        { kind: 'claimed', task: 'LAMP-1', ...ada },
        { kind: 'progress', task: 'LAMP-1', ...ada, summary: 'Measures.' },
        {
          kind: 'checks',
          task: 'LAMP-1',
          actor: ada.actor,
          changes: { checks: [[], ['a: done']] },
        },
        { kind: 'status', task: 'LAMP-1', actor: ada.actor, changes: status('todo', 'doing') },
        {
          kind: 'status',
          task: 'LAMP-1',
          actor: ada.actor,
          changes: status('doing', 'done', true),
        },
        { kind: 'released', task: 'LAMP-1', ...ada, summary: 'A curve.', changes: finished },
        { kind: 'title', task: 'LAMP-1', title: 'Dim' },
        { kind: 'claimed', task: 'LAMP-2', actor: 'bob' },
      ),
    )
    expect(changes).toBe(8)
    expect(byAgent.map(({ who, lines }) => [who, ...lines.map(({ text }) => text)])).toEqual([
      ['dim · root@vm', '1 check changed · Todo → Done'],
      ['bob', 'claimed'],
      ['', 'renamed'],
    ])
    expect(byTask).toMatchObject([
      { task: 'LAMP-2', text: 'claimed', who: ['bob'] },
      {
        task: 'LAMP-1',
        title: 'Dim',
        text: '1 check changed · Todo → Done · renamed',
        said: 'A curve.',
        who: ['dim · root@vm'],
      },
    ])
  })

  it.each<[Some[], string]>([
    [[{ kind: 'created', changes: status(null, 'todo') }], 'new: Todo'],
    [[{ kind: 'deleted', changes: status('todo', null) }], 'deleted'],
    [
      [
        { kind: 'status', changes: status('todo', 'done', true) },
        { kind: 'status', changes: status('done', 'todo', false) },
      ],
      'Todo → … → Todo',
    ],
    [[{ kind: 'claimed' }, { kind: 'expired' }], 'claim expired'],
    [[{ kind: 'claimed' }, { kind: 'released', changes: finished }], 'done'],
    [[{ kind: 'released', changes: { health: ['active', 'canceled'] } }], 'given back'],
    [[{ kind: 'released', by: 'other' }], 'claim ended by a person'],
    [[{ kind: 'progress', summary: 'x' }], 'worked on'],
    [[{ kind: 'deps', changes: { deps: [[], ['A-1', 'A-2']] } }], 'depends on A-1 and A-2'],
    [[{ kind: 'assignee', changes: { assignee: ['ada', null] } }], 'assigned to nobody'],
  ])('%j reads as %s', (rows, text) => {
    const { byTask } = digestOf(rowsOf(...rows.map((row) => ({ task: 'LAMP-1', ...row }))))
    expect(byTask.map((line) => line.text)).toEqual([text])
  })

  it('begins with what stands out, and only with that', () => {
    const { marked } = digestOf(
      rowsOf(
        { kind: 'claimed', task: 'LAMP-1', actor: 'bob' },
        {
          kind: 'deleted',
          task: 'LAMP-2',
          changes: status('todo', null),
          marks: ['deleted_while_open'],
        },
        {
          kind: 'status',
          task: 'LAMP-1',
          changes: status('done', 'todo', false),
          marks: ['reopened'],
        },
      ),
    )
    expect(marked).toMatchObject([
      { task: 'LAMP-1', text: 'Done → Todo', marks: ['reopened'] },
      { task: 'LAMP-2', text: 'deleted', marks: ['deleted_while_open'] },
    ])
  })

  it('counts what a switch of the main tree changed with the switch, and blames nobody', () => {
    const moved = { kind: 'status', by: 'switch', changes: status('done', 'todo', false) } as const
    const { board, byAgent } = digestOf(
      rowsOf(
        { kind: 'published', changes: { tasks: [0, 7] } },
        { kind: 'switched', changes: { branch: ['main', 'fix'], head: ['a', 'b'] } },
        { ...moved, task: 'LAMP-1' },
        { ...moved, task: 'LAMP-2' },
        { kind: 'sidecar', changes: { state: ['running', 'offline'] } },
      ),
    )
    expect(board.map(({ text }) => text)).toEqual([
      'sidecar offline',
      'main tree switched from main to fix, which changed 2 tasks',
      'first published, with 7 tasks',
    ])
    expect(byAgent).toEqual([])
  })

  it('names the branches of a switch at the same commit, or that there is none', () => {
    const textFor = (branch: (string | null)[]) =>
      textOf(rowsOf({ kind: 'switched', changes: { branch } })[0] as ActivityRow)
    expect(textFor(['main', 'fix'])).toBe('main tree switched from main to fix')
    expect(textFor(['main', null])).toBe('main tree switched from main to no branch')
  })

  it('names the commits of a switch without another branch', () => {
    const head = ['0123456789abcdef', 'fedcba9876543210']
    expect(textOf(rowsOf({ kind: 'switched', changes: { head } })[0] as ActivityRow)).toBe(
      'main tree switched from 01234567 to fedcba98',
    )
  })

  it('of 500 changes by eight agents is a line for each task, and a sum for each agent', () => {
    const rows = Array.from({ length: 125 }, (_, at): Some[] => {
      const own = { task: `LAMP-${at}`, actor: `root@vm:${at % 8}`, tree: `tree-${at % 8}` }
      return [
        { kind: 'claimed', ...own },
        { kind: 'progress', ...own, summary: 'Works.' },
        { kind: 'status', ...own, changes: status('todo', 'done', true) },
        { kind: 'released', ...own, changes: finished },
      ]
    })
    const { byAgent, changes } = digestOf(rowsOf(...rows.flat()))
    expect(changes).toBe(500)
    expect(byAgent).toHaveLength(8)
    expect(byAgent.flatMap(({ lines }) => lines)).toHaveLength(125)
    expect(byAgent[0]?.sums).toEqual([['Todo → Done', 16]])
  })
})
