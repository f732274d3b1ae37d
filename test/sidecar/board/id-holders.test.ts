import { dirname } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { IdHolders } from '../../../sidecar/board/id-holders.ts'
import { type Fact, factOf, type TaskFact } from '../../../sidecar/files/facts.ts'
import { config, session, task } from '../fake-board.ts'

/** Of a tool whose files have the prefix of the configuration, and whose folders have plans. */
const store = {
  fold: (id: string): string => id.toLowerCase(),
  classify: (path: string) => (path.endsWith('plan') ? ('about' as const) : ('task' as const)),
  whyIgnored: (path: string, prefix: string | undefined) =>
    prefix === undefined || path.includes(prefix) ? undefined : 'its name is another',
}

const factAt = (path: string, entry = task('A'), hash = path) =>
  factOf({ path, hash, state: 'ok' }, entry, undefined) as Fact
const claim = (path: string, more: Partial<TaskFact> = {}): TaskFact => ({
  ...(factAt(path) as TaskFact),
  ...more,
})

/** In the order in which new ones are listed, which is not that of their paths. */
const IN_ORDER: readonly TaskFact[] = [
  claim('/z/y/A 1'),
  claim('/z/z/A 1'),
  claim('/z/a/A 2', { isMisnamed: true }),
  claim('/a/a/A 3', { standing: 'closed' }),
  claim('/z/b/A plan'),
  claim('/z/y/A plan'),
  claim('/y/A 3', { standing: 'outside' }),
  claim('/y/A plan', { standing: 'outside' }),
  claim('/x/4'),
  claim('/w/5', { standing: 'outside' }),
  claim('/t/A 6', { tree: 'tree' }),
  claim('/t/7', { tree: 'tree' }),
  claim('', { standing: 'outside' }),
]
const folderOf = ({ path }: Fact): string => path.slice(0, path.lastIndexOf('/'))
const isPlan = ({ path }: Fact): boolean => path.endsWith('plan')

test('claims have one order, whatever came, went and was configured in between', () => {
  const some = fc.shuffledSubarray([...IN_ORDER])
  fc.assert(
    fc.property(some, some, fc.nat(2), (came, stay, at) => {
      const holders = new IdHolders(store)
      const gone = came.filter((fact) => !stay.includes(fact))
      const steps = [
        () => {
          for (const fact of came) holders.add(fact)
        },
        () => expect(holders.claims('task:a')).toHaveLength(came.length),
        () => {
          for (const fact of gone) holders.remove(fact)
        },
      ]
      const configured = steps.toSpliced(at + 1, 0, () => holders.usePrefix('A'))
      for (const step of [() => holders.usePrefix('x'), ...configured]) step()

      const left = IN_ORDER.filter((fact) => came.includes(fact) && stay.includes(fact))
      expect(holders.claims('task:a')).toEqual(left)
      expect(holders.holder('task:a')).toBe(left[0])
      // Only files that the board lists can be taken for each other.
      const own = left.filter((fact) => IN_ORDER.indexOf(fact) < 4)
      expect(holders.isShared('task:a')).toBe(own.length > 1)
      // A plan is a part of the task of its folder, and what a tree has is that of the holder.
      const listed = left.filter((fact, n) => {
        if (fact.tree !== undefined) return n === 0
        const isOfFolder = (other: Fact) => folderOf(other) === folderOf(fact)
        return !(isPlan(fact) && left.slice(0, n).some(isOfFolder))
      })
      expect(left.filter((fact) => holders.isListed(fact))).toEqual(listed)
      const held = listed.map((fact, n) => ({ key: n === 0 ? 'task:A' : `task:A~${n + 1}`, fact }))
      expect(holders.held('task:a')).toEqual(held)
      for (const { key, fact } of held) expect(holders.find(key as 'task:A')).toBe(fact)
      expect(holders.find(`task:A~${Math.max(2, held.length + 1)}`)).toBeUndefined()
      for (const fact of left) {
        const plan = left.find((other) => isPlan(other) && folderOf(other) === folderOf(fact))
        expect(holders.about(fact)).toBe(isPlan(fact) ? undefined : plan)
      }
    }),
    { numRuns: 300 },
  )
})

test('where the tool says so, files are about a task by their place, the lowest rank first', () => {
  const roles = new IdHolders({
    ...store,
    classify: () => 'tasks',
    whyIgnored: () => undefined,
    roleOf: (path) => {
      const [, folder = '', rank = ''] = path.split('/')
      return { folder, rank: Number(rank), ...(rank !== '' && { isAbout: (id) => id === 'A' }) }
    },
  })
  const [task1, plan1, plan2, other] = ['/b/', '/b/1', '/b/2', '/a/1'].map((path) => claim(path))
  if (!task1 || !plan1 || !plan2 || !other) throw new Error('none')
  for (const fact of [plan2, other, plan1, task1]) roles.add(fact)
  expect(roles.claims('task:a')).toEqual([task1, other, plan1, plan2])
  expect(roles.held('task:a').map(({ fact }) => fact)).toEqual([task1, other])
  expect(roles.about(task1)).toBe(plan1)
  roles.remove(task1)
  expect(roles.held('task:a').map(({ fact }) => fact)).toEqual([other, plan1])
  expect(roles.isAbout(claim('/b/1', { id: 'B' }))).toBe(false)
})

test('a guess counts only where a file beside it has its id, and again when that is back', () => {
  const holders = new IdHolders({
    ...store,
    whyIgnored: () => undefined,
    roleOf: (path) => ({ folder: dirname(path), rank: 0 }),
    isGuess: (path) => path.endsWith('guess'),
  })
  const [guess, other, list] = [claim('/b/guess'), claim('/a/guess'), claim('/b/list')]
  const shown = () => holders.held('task:a').map(({ fact }) => fact)
  for (const fact of [guess, other]) holders.add(fact)
  expect(shown()).toEqual([])
  expect([guess, other].map((fact) => holders.isListed(fact))).toEqual([false, false])
  expect(holders.find('task:A')).toBeUndefined()
  holders.add(list)
  expect(holders.claims('task:a')).toEqual([guess, list])
  expect(holders.isListed(other)).toBe(false)
  holders.remove(list)
  expect(shown()).toEqual([])
  holders.add(list)
  holders.remove(guess)
  expect(shown()).toEqual([list])
})

describe('who was published under an id', () => {
  const [first, second] = [claim('/1'), claim('/2')]

  test('is known of those that were, also of an earlier run, and of no others', () => {
    const holders = new IdHolders(store)
    holders.add(second)
    expect(holders.isPublished(second)).toBe(false)
    holders.publish()
    holders.add(first)
    const other = claim('/3', factAt('/3', task('B')) as TaskFact)
    holders.add(other)
    expect([first, second, other].map((fact) => holders.isPublished(fact))).toEqual([
      false,
      true,
      false,
    ])
    const restored = new IdHolders(store)
    for (const fact of [first, second, other]) restored.restore(fact, fact === second)
    expect([first, second, other].map((fact) => restored.isPublished(fact))).toEqual([
      false,
      true,
      false,
    ])
    restored.publish()
    expect(restored.isPublished(other)).toBe(true)
  })

  test('keeps it, but not a configuration, of which the place decides, nor a plan or a completed one', () => {
    const holders = new IdHolders(store)
    const configs = ['/2', '/1'].map((path) => factAt(path, config([])))
    const settings = ['/2', '/1'].map((path) =>
      factAt(path, { kind: 'setting', id: 'x', value: path }),
    )
    const plans = ['/2/plan', '/1/plan'].map((path) => claim(path))
    const sessions = ['/2', '/1'].map((path) => factAt(path, session('s', 'A')))
    const lived = [claim('/1', { id: 'B', standing: 'closed' }), claim('/2', { id: 'B' })]
    for (const [older, newer] of [configs, settings, plans, lived, sessions]) {
      if (!older || !newer) throw new Error('none')
      holders.add(older)
      holders.publish()
      holders.add(newer)
      expect(holders.holder(holders.nameOf(older))).toBe(older.kind === 'session' ? older : newer)
    }
  })

  test('of two sessions is the one in the tree of its branch, wherever the others are', () => {
    const holders = new IdHolders(store)
    const here = factAt('/2', session('s', 'A'))
    holders.add({ ...factAt('/1', session('s', 'A')), isElsewhere: true } as Fact)
    holders.add(here)
    expect(holders.holder('session:s')).toBe(here)
  })
})
