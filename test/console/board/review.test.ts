import { execFileSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { branchesOf, lookCommand } from '../../../console/board/review.ts'
import type { Task } from '../../../libraries/api/types.ts'
import { card, session } from '../../support/made-up-board.ts'

const isClosed = (status: string) => status === 'done'
const toReview = (id: string, fields: Partial<Task>) => card({ id, ...fields }, { state: 'review' })
const dim = { tree: 'dim', branch: 'agent/dim', dir: '/home/mira/dim' }
const at = (hour: number) => `2026-03-03T${hour}:00:00Z`
const ms = (hour: number) => Date.UTC(2026, 2, 3, hour)

describe('what waits for a review', () => {
  const cards = [
    toReview('LAMP-1', { trees: [{ ...dim, status: 'done', updatedAt: at(14) }] }),
    toReview('LAMP-2', { trees: [{ ...dim, status: 'done', updatedAt: at(12) }] }),
    toReview('LAMP-3', {
      trees: [
        { tree: 'fix', dir: '/home/mira/fix', status: 'done', updatedAt: at(11) },
        { tree: 'old', dir: '/home/mira/old', status: 'backlog', updatedAt: at(10) },
      ],
    }),
    toReview('LAMP-4', { done: { at: at(13), by: 'ada', session: 'claim-4' } }),
    toReview('LAMP-6', {
      updatedAt: at(10),
      trees: [{ ...dim, status: 'done', updatedAt: at(10) }],
    }),
    card({ id: 'LAMP-5', trees: [{ ...dim, status: 'done' }] }),
  ]

  it('is by branch, what waits for longest first, with who did it and what they say', () => {
    const sessions = [
      session('claim-1', {
        task: 'LAMP-1',
        tree: 'dim',
        actor: 'root@vm:7/dim',
        startedAt: at(14),
        endedAt: at(15),
        summary: 'A curve.',
      }),
      session('claim-0', { task: 'LAMP-1', tree: 'dim', actor: 'bob' }),
      session('claim-4', { task: 'LAMP-4', tree: 'dim', actor: 'ada', endedAt: at(13) }),
    ]
    const branches = branchesOf(cards, sessions, isClosed)
    expect(
      branches.map(({ key, items, ...place }) => [
        place,
        ...items.map(({ card: { task }, ...rest }) => ({ id: task.id, ...rest })),
      ]),
    ).toEqual([
      [
        { tree: 'fix', dir: '/home/mira/fix' },
        { id: 'LAMP-3', since: ms(11) },
      ],
      [
        dim,
        { id: 'LAMP-2', since: ms(12) },
        { id: 'LAMP-4', since: ms(13), who: 'ada' },
        { id: 'LAMP-1', since: ms(15), who: 'root@vm', summary: 'A curve.' },
        { id: 'LAMP-6' },
      ],
    ])
  })
})

describe('the command that shows a branch', () => {
  it('compares the folder of a worktree with the branch of the main tree', () => {
    expect(lookCommand(dim, 'main')).toBe('git -C /home/mira/dim diff --merge-base main')
    expect(lookCommand(dim, undefined)).toBe('git -C /home/mira/dim log -p')
    expect(lookCommand({ branch: 'agent/dim' }, 'main')).toBe('git diff main...agent/dim')
    expect(lookCommand({ branch: 'main' }, 'main')).toBeUndefined()
    expect(lookCommand({}, 'main')).toBeUndefined()
  })

  it('gives a shell the very names, whatever is in them', () => {
    const names = [`/tmp/it's $(touch x) \`y\``, 'a;b|c&d', 'line\nbreak', '"$HOME"']
    for (const dir of names) {
      const command = lookCommand({ dir }, dir) ?? ''
      const shown = execFileSync('sh', ['-c', command.replace('git', `printf '%s\\0'`)])
      expect(`${shown}`.split('\0')).toEqual(['-C', dir, 'diff', '--merge-base', dir, ''])
    }
  })
})
