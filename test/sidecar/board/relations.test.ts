import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { deriveTask, healthOf, newerFirst, staleAt } from '../../../sidecar/board/derive.ts'
import { type Derived, Relations } from '../../../sidecar/board/relations.ts'
import { type Fact, factOf, type SessionFact, type TaskFact } from '../../../sidecar/files/facts.ts'
import type { Entry } from '../../../sidecar/layouts/layout.ts'
import type { Key } from '../../../worker/board/wire.ts'
import { config, FakeBoard, live, session as sessionOf, task } from '../fake-board.ts'

const session = { status: 'active', startedAtMs: 1_000, heartbeatAtMs: undefined }

describe('health of a session', () => {
  test('is what its status says once it has ended, however old its heartbeat is', () => {
    expect(healthOf({ ...session, status: 'finished' }, 100, 1e9)).toBe('finished')
    expect(healthOf({ ...session, status: 'canceled' }, 100, 1e9)).toBe('canceled')
    for (const status of ['finished', 'canceled'])
      expect(staleAt({ ...session, status }, 100)).toBeUndefined()
  })

  test('turns stalled one millisecond after the limit, not at it', () => {
    expect(healthOf(session, 100, 1_100)).toBe('active')
    expect(healthOf(session, 100, 1_101)).toBe('stalled')
    expect(staleAt(session, 100)).toBe(1_101)
  })
})

describe('state of a task', () => {
  const task = { closed: false, isHeld: false, activeAttempt: 'a1', depsClosed: true }
  const newest = { id: 's1', attempt: 'a1', health: 'active' } as const

  test('is that of its newest session', () => {
    expect(deriveTask({ ...task, newest })).toEqual({
      ready: true,
      executionState: 'active',
      sessionId: 's1',
    })
    expect(deriveTask({ ...task, newest: { ...newest, health: 'stalled' } })).toMatchObject({
      executionState: 'stalled',
    })
  })

  test('does not follow a session of another attempt, nor one of a task without any', () => {
    expect(deriveTask({ ...task, newest: { ...newest, attempt: 'a0' } })).toEqual({ ready: true })
    expect(deriveTask({ ...task, activeAttempt: undefined, newest })).toEqual({ ready: true })
  })

  test('awaits review after a finished session, but not once the task is closed', () => {
    const finished = { ...newest, health: 'finished' } as const
    expect(deriveTask({ ...task, newest: finished })).toMatchObject({
      executionState: 'awaiting_review',
      sessionId: 's1',
    })
    expect(deriveTask({ ...task, closed: true, newest: finished })).toEqual({
      ready: false,
      sessionId: 's1',
    })
  })

  test('names a canceled session, which is no state', () => {
    const canceled = { ...newest, health: 'canceled' } as const
    expect(deriveTask({ ...task, newest: canceled })).toEqual({ ready: true, sessionId: 's1' })
  })

  test('is not ready while its tool holds it back', () => {
    expect(deriveTask({ ...task, isHeld: true, newest: undefined })).toEqual({
      ready: false,
      held: true,
    })
    const closed = { ...task, closed: true, isHeld: true, newest: undefined }
    expect(deriveTask(closed)).toEqual({ ready: false })
  })
})

test('the newest session is first, and of one moment the one with the greater id', () => {
  const [a, b, late] = [
    { id: 'a', startedAtMs: 1 },
    { id: 'b', startedAtMs: 1 },
    { id: 'a', startedAtMs: 3 },
  ]
  expect(newerFirst(late, b)).toBeLessThan(0)
  expect(newerFirst(b, late)).toBeGreaterThan(0)
  expect([newerFirst(b, a), newerFirst(a, b), newerFirst(a, { ...a })]).toEqual([-1, 1, 0])
})

const numbers = Array.from({ length: 300 }, (_, n) => n)

test('an id that stands 300 times in one file is listed 300 times', async () => {
  const fake = new FakeBoard()
  fake.put('/s/config', config(['done']))
  fake.put('/s/tasks/all', ...numbers.map((n) => task('A', { title: `Task ${n}` })))
  const keys = fake.board.takeChanged(0).filter((key) => key.startsWith('task:'))
  expect(new Set(keys)).toEqual(
    new Set(['task:A', ...numbers.slice(1).map((n) => `task:A~${n + 1}`)]),
  )
  expect(await fake.board.read('task:A~300')).toMatchObject({ task: { title: 'Task 299' } })
})

test('when the first of three goes, the second takes the id and the third the second place', async () => {
  const fake = new FakeBoard()
  fake.put('/s/config', config(['done']))
  for (const name of ['c', 'a', 'b']) fake.put(`/s/tasks/${name}`, task('A', { title: name }))
  fake.board.takeChanged(0)
  const titles = async () => {
    const records = await Promise.all(
      (['task:A', 'task:A~2', 'task:A~3'] as const).map((key) => fake.board.read(key)),
    )
    return records.map((record) => record?.kind === 'task' && record.task.title)
  }
  expect(await titles()).toEqual(['a', 'b', 'c'])
  fake.remove('/s/tasks/a')
  expect(new Set(fake.board.takeChanged(0))).toEqual(new Set(['task:A', 'task:A~2', 'task:A~3']))
  expect(await titles()).toEqual(['b', 'c', false])
})

const store = {
  fold: (id: string): string => id.toLowerCase(),
  classify: (path: string) => (path.endsWith('plan') ? ('about' as const) : ('task' as const)),
  whyIgnored: (path: string) => (path.startsWith('/ignored') ? 'it has no prefix' : undefined),
}
const STATES = config(['DONE'], { states: ['todo', 'Done'] })
const at = <F extends Fact = TaskFact>(path: string, entry: Entry, more: Partial<F> = {}): F =>
  ({ ...factOf({ path, hash: path, state: 'ok' }, entry, undefined), ...more }) as F

/** These facts, with a configuration. */
function related(...facts: Fact[]): Relations {
  const relations = new Relations(store)
  for (const fact of [at('/config', STATES), ...facts]) relations.add(fact)
  relations.takeRules()
  return relations
}
const touchedBy = (touch: (into: Set<Key>) => void): Key[] => {
  const into = new Set<Key>()
  touch(into)
  return [...into].toSorted()
}
const DONE = task('A', { status: 'done' })
const B = at('/b', task('B', { deps: ['a'] }))

test.each<[string, boolean, Fact[]]>([
  ['whose status is, in any case', true, [at('/a', DONE)]],
  ['whose place says so', true, [at('/a', task('A'), { standing: 'closed' })]],
  ['that is open', false, [at('/a', task('A'))]],
  ['that is in none of its lists', false, [at('/a', DONE, { standing: 'outside' })]],
  ['that the tool ignores', false, [at('/ignored/a', DONE)]],
  ['whose id another file has, too', false, [at('/a', DONE), at('/a2', DONE)]],
  ['whose id an ignored file has, too', true, [at('/a', DONE), at('/ignored/a', DONE)]],
  ['that is no task', false, [at('/s', sessionOf('a', 'A', 'done'))]],
])('a task %s is closed, and what waits for it ready: %j', (_name, isClosed, facts) => {
  const relations = related(B, ...facts)
  expect(relations.isClosed('task:a')).toBe(isClosed)
  expect(relations.derive(B, 0)).toEqual({ task: { ready: isClosed } })
})

test('the rules are those of the last configuration, and the first one is new', () => {
  const relations = new Relations(store)
  const [one, other] = [at('/config', STATES), at('/config', config(['todo'], { project: 'P' }))]
  expect(relations.takeRules()).toBe(false)
  relations.add(one)
  expect([relations.takeRules(), relations.takeRules(), relations.project]).toEqual([
    true,
    false,
    undefined,
  ])
  relations.remove(one)
  expect([relations.takeRules(), relations.rules.closed]).toEqual([false, ['DONE']])
  relations.add(other)
  expect([relations.takeRules(), relations.project]).toEqual([true, 'P'])
  expect(relations.rules).toMatchObject({ isRead: true, closed: ['todo'], staleAfterMs: 1_000 })
})

const READY = { task: { ready: true } }
const HELD = { ready: false, held: true } as const
const IGNORED = 'its tool ignores it: it has no prefix'
const TWIN = 'another entry of this file has the id A'
const setting = (id: string, value: string) => at<Fact>('/set', { kind: 'setting', id, value })
const run = at<Fact>('/r', { kind: 'run', id: 'r', task: 'A', run: { file: 'r', timedout: false } })
const draft = (path: string, id: string) => at(path, task(id), { standing: 'outside' })
/** A task of an archived change, and an open change with the same id. */
const [LIST, OPEN] = [draft('/old/t', 'c/1'), at('/c/t', task('c'))]
const s1 = at<SessionFact>('/s', sessionOf('s', 'A'))

const SECOND = { task: HELD, invalid: TWIN, isTwin: true }

test.each<[string, Derived, Fact, Fact[]]>([
  ['a status as configured', { task: { ready: false, status: 'Done' } }, at('/a', DONE), []],
  ['an unknown status as it is', READY, at('/a', task('A', { status: 'x' })), []],
  ['of a held task', { task: HELD }, at('/a', task('A'), { standing: 'held' }), []],
  ['of an ignored task', { task: HELD, invalid: IGNORED }, at('/ignored/a', task('A')), []],
  ['of a draft with the id of a task', { task: HELD }, draft('/z', 'A'), [at('/a', task('A'))]],
  ['of a second draft', SECOND, draft('/z', 'A'), [at('/z', task('A'))]],
  ['its own change', { task: { ...HELD, parent: 'c~2' } }, LIST, [OPEN, draft('/old/c', 'c')]],
  ['not an open change', { task: HELD }, LIST, [OPEN]],
  ['a change that has its id', { task: HELD }, LIST, [draft('/old/c', 'c')]],
  ['of a session of a tree', { health: 'active', tree: 't' }, { ...s1, tree: 't' }, []],
  ['of a session', { health: 'active' }, s1, []],
  ['of a run of a tree', { tree: 't' }, { ...run, tree: 't' }, []],
  ['of a second run', { invalid: 'another file has the id r: r' }, { ...run, path: '/z' }, [run]],
  ['of a configuration', {}, at<Fact>('/c', STATES), []],
  ['its tag', { board: { currentTag: 'x' } }, at<Fact>('/c', STATES), [setting('currentTag', 'x')]],
  ['of a heartbeat', {}, at<Fact>('/l', live('s', 5)), []],
  ['of a setting', {}, setting('x', 'y'), []],
])('what follows from other files: %s', (_name, derived, fact, others) => {
  expect(related(...others, fact).derive(fact, 0)).toStrictEqual(derived)
})

test('only whole tasks of the board are counted, and ready is none that a file about it holds', () => {
  const facts = [
    at('/a', DONE),
    at('/b', task('B')),
    at('/ignored/c', task('C')),
    draft('/d', 'D'),
    at('/e/1', task('E')),
    at('/e/plan', task('E'), { standing: 'held' }),
    at('/f/plan', task('F')),
    at('/g/1', task('G')),
    at('/g/plan', task('G')),
    s1,
  ]
  expect(related(...facts).count(facts, 0)).toEqual({ tasks: 6, closed: 1, ready: 2 })
})

test('a heartbeat touches its session and its task, a session of a tree also the task of the tree', () => {
  const beat = at<Fact>('/l', live('s', 5))
  const touched = (name: string, ...facts: Fact[]) =>
    touchedBy((into) => related(...facts).touch(name, into))
  const main = at('/a', task('a'))
  expect(touched('live:s', beat, s1, main)).toEqual(['session:s', 'task:a'])
  expect(touched('session:s', { ...s1, tree: 't' }, main)).toEqual([
    'session:s',
    'task:A',
    'task:a',
  ])
  expect(touched('setting:x', setting('x', 'y'))).toEqual([])
  expect(touched('task:a~2', main)).toEqual(['task:a'])
  expect(touched('task:c', LIST, draft('/old/c', 'c'))).toEqual(['task:c', 'task:c/1'])
  expect(touched('run:c', LIST)).toEqual([])
})

test('of any files, those that wait, the newest session and the next stale one are those of the files', () => {
  const ended = fc.constantFrom('active', 'active', 'finished', 'canceled')
  const STALE_MS = 1_000
  const ids = ['1', '2', '3', '4']
  const waiting = fc.record({ id: fc.constantFrom(...ids), deps: fc.subarray(['A', 'x', 'X']) })
  const begun = fc.record({
    id: fc.constantFrom(...ids),
    status: ended,
    atMs: fc.integer({ min: 1, max: 4 }),
  })
  const removed = fc.record({
    gone: fc.constantFrom(...ids.flatMap((id) => [`/t${id}`, `/s${id}`])),
  })
  const times = fc.tuple(fc.nat(1_010), fc.nat(1_010))
  fc.assert(
    fc.property(
      fc.array(fc.oneof(waiting, begun, removed), { maxLength: 20 }),
      times,
      (steps, [before, now]) => {
        const a = at('/a', task('A', { activeAttempt: 'a1' }))
        const relations = related(a)
        const files = new Map<string, Fact>()
        const put = (path: string, fact?: Fact) => {
          const known = files.get(path)
          if (known) relations.remove(known)
          if (fact) relations.add(fact)
          if (fact) files.set(path, fact)
          else files.delete(path)
        }
        for (const step of steps) {
          if ('gone' in step) put(step.gone)
          else if ('deps' in step) put(`/t${step.id}`, at(`/t${step.id}`, task(step.id, step)))
          else
            put(
              `/s${step.id}`,
              at<Fact>(`/s${step.id}`, sessionOf(step.id, 'a', step.status, step.atMs)),
            )
        }
        const facts = [...files.values()]
        const waits = facts.flatMap((fact) =>
          fact.kind === 'task' && fact.deps.length > 0 ? fact : [],
        )
        for (const name of ['a', 'x']) {
          const expected = waits.filter(({ deps }) => deps.some((dep) => store.fold(dep) === name))
          expect(touchedBy((into) => relations.touchDependents(`task:${name}`, into))).toEqual(
            expected.map(({ id }) => `task:${id}`).toSorted(),
          )
        }
        const sessions = facts.flatMap((fact) => (fact.kind === 'session' ? fact : []))
        const newest = sessions.toSorted(newerFirst)[0]
        expect(relations.derive(a, now).task?.sessionId).toBe(newest?.id)
        const ends = sessions.flatMap(
          (each) => staleAt({ ...each, heartbeatAtMs: undefined }, STALE_MS) ?? [],
        )
        const next = ends.filter((end) => end > now)
        expect(relations.nextStaleAt(now)).toBe(next.length > 0 ? Math.min(...next) : undefined)
        const isStale = (each: SessionFact, time: number) =>
          healthOf({ ...each, heartbeatAtMs: undefined }, STALE_MS, time)
        const turned = sessions.filter((each) => isStale(each, before) !== isStale(each, now))
        expect(touchedBy((into) => relations.touchStale(before, now, into))).toEqual(
          turned.length > 0
            ? [...turned.map(({ id }) => `session:${id}`).toSorted(), 'task:A']
            : [],
        )
      },
    ),
    { numRuns: 300 },
  )
})
