import { expect, test } from 'vitest'
import {
  type Commit,
  History,
  isMerge,
  ListHistory,
  logReader,
  newestIn,
} from '../../../sidecar/git/history.ts'

const id = (n: number) => String(n).repeat(40)
const commit = (n: number, at: number, ...files: Commit['files'][number][]): Commit => ({
  id: id(n),
  parent: id(n - 1),
  at,
  files,
})

test('a log of git is read: what each commit made of the files of a board', () => {
  const change = (mode: string, blob: string, letter: string) =>
    `:100644 ${mode} ${id(0)} ${blob} ${letter}`
  const log = [
    `${id(3)} 30 ${id(2)} ${id(9)}`,
    `\n${change('100644', id(7), 'M')}`,
    'b/a b.md',
    change('000000', id(0), 'D'),
    'b/c.md',
    change('120000', id(8), 'T'),
    'b/link.md',
    `${id(2)} 20 ${id(1)}`,
    `${id(1)} 10 `,
    `\n${change('100755', id(6), 'A')}`,
    'other',
  ]
  const { take, commits } = logReader((path) => path.startsWith('b/'))
  for (const part of log) take(part)
  expect(commits()).toEqual([
    {
      id: id(3),
      parent: id(2),
      at: 30,
      files: [
        ['b/a b.md', id(7)],
        ['b/c.md', undefined],
        ['b/link.md', undefined],
      ],
    },
    { id: id(2), parent: id(1), at: 20, files: [] },
    { id: id(1), parent: undefined, at: 10, files: [] },
  ])
})

test('a history goes on only with what comes right after it, and knows the place of its commits', () => {
  const history = new History(id(1), [commit(3, 30, ['a', 'x']), commit(2, 20, ['a', undefined])])
  expect(history.goesOnWith([commit(5, 50), commit(4, 40)])).toBe(true)
  expect(history.goesOnWith([commit(5, 50)])).toBe(false)
  expect(history.goesOnWith([])).toBe(false)
  history.add([commit(5, 50, ['a', 'y']), commit(4, 40)])
  expect(history.versionsOf('a')).toEqual([
    { blob: undefined, at: 20, n: 1 },
    { blob: 'x', at: 30, n: 2 },
    { blob: 'y', at: 50, n: 4 },
  ])
  expect([history.head, history.has(id(1)), history.has(id(9))]).toEqual([id(5), true, false])
  expect([history.placeOf([id(1)]), history.placeOf([id(3), id(2)])]).toEqual([0, 2])
})

test('a commit counts if it comes after the merge base and is not older than the own one', () => {
  expect(isMerge({ n: 2, at: 20 }, { at: 20 }, 1)).toBe(true)
  expect(isMerge({ n: 1, at: 20 }, { at: 20 }, 1)).toBe(false)
  expect(isMerge({ n: 2, at: 19 }, { at: 20 }, 1)).toBe(false)
  const commits = [commit(2, 20, ['a', undefined]), commit(1, 10, ['a', 'x'], ['b', 'y'])]
  expect([...newestIn(commits)]).toEqual([
    ['a', { blob: undefined, at: 20 }],
    ['b', { blob: 'y', at: 10 }],
  ])
})

test('of a list each task counts alone, and one that was not in it as removed', () => {
  const list = new ListHistory()
  const versions: Record<string, string>[] = [
    { a: '1', b: '1' },
    { a: '2' },
    { a: '1', b: '1', c: '1' },
  ]
  for (const [at, tasks] of versions.entries())
    list.take({ blob: 'x', at, n: at + 1 }, new Map(Object.entries(tasks)))
  const merged = (head: Record<string, string>, at: number, since: number) =>
    Object.fromEntries(list.merged(new Map(Object.entries(head)), { at }, since))
  expect(merged({ a: '2' }, 1, 1)).toEqual({ a: '2', b: undefined, c: undefined })
  expect(merged({ a: '2' }, 2, 1)).toEqual({})
  expect(merged({ a: '2', b: '1' }, 0, 2)).toEqual({ b: '1' })
  expect(merged({ a: '3', d: '1' }, 0, 0)).toEqual({ b: undefined, c: undefined })
})
