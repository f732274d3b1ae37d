import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Task } from '../../worker/board/wire.ts'
import {
  ask,
  askTaskMaster,
  inTools,
  noPython,
  noTools,
  PYTHON,
  UNREPORTED,
} from '../support/judges.ts'
import { listedBoard } from '../support/listed-board.ts'
import {
  backlogBoard,
  bmadBoard,
  cairnBoard,
  Dice,
  type Expected,
  type Files,
  listBoard,
  openSpecBoard,
  taskMasterBoard,
} from '../support/odd-boards.ts'
import { makeFolder } from '../support/temp-folder.ts'

const { ODD_BOARDS_SEED = '30', ODD_BOARDS_MINUTES } = process.env
const KINDS = 7
/** The time for each layout; absent: as many boards as each test says. */
const BUDGET_MS = ODD_BOARDS_MINUTES && (Number(ODD_BOARDS_MINUTES) * 60_000) / KINDS
const PATIENT = 900_000
/** Without the script that starts it, which takes as long as the list. */
const BACKLOG = `node_modules/backlog.md-${process.platform}-${process.arch}/backlog`

const isTaskFile = (path: string): boolean => /\/(?:tasks|completed|drafts)\/\w+-/.test(path)

/** The board's columns ignore case and spaces, which the tool's list shows. */
const plain = (status: string): string => status.trim().toLowerCase()

/** One board after the other; the name of the one that fails is in the message. */
async function many(
  layout: string,
  count: number,
  one: (dice: Dice, name: string) => Promise<void>,
): Promise<void> {
  const until = performance.now() + Number(BUDGET_MS ?? 0)
  for (let n = 0; BUDGET_MS ? performance.now() < until : n < count; n++) {
    const name = `${layout} of seed ${ODD_BOARDS_SEED}, board ${n}`
    await one(new Dice(`${ODD_BOARDS_SEED}:${layout}:${n}`), name)
  }
}

const compare = (a: string, b: string): number => (a < b ? -1 : 1)
const sorted = (texts: Iterable<string>): string[] => [...texts].sort(compare)
const lines = (tasks: Iterable<[string, unknown]>) =>
  sorted([...tasks].map(([id, what]) => `${id} ${JSON.stringify(what)}`))

/** As far as something is expected of a row. */
function seen(task: Task | undefined, { status, ready, isInvalid }: Expected) {
  if (!task) return 'hidden'
  return {
    ...(status !== undefined && { status: task.status }),
    ...(ready !== undefined && { ready: task.ready }),
    ...(isInvalid !== undefined && { isInvalid: task.invalid !== undefined }),
  }
}

async function expectBuilt(files: Files, expected: Map<string, Expected>, name: string) {
  const { tasks } = await listedBoard(makeFolder(files))
  const byId = new Map(tasks.map((task) => [task.id, task]))
  const found = [...expected].map(([id, what]) => [id, seen(byId.get(id), what)] as const)
  const wanted = [...expected].map(([id, what]) => [id, JSON.parse(JSON.stringify(what))] as const)
  expect.soft(Object.fromEntries(found), name).toEqual(Object.fromEntries(wanted))
  expect.soft(sorted(byId.keys()), name).toEqual(sorted(expected.keys()))
}

describe('odd boards that are held to how they were built', () => {
  it.each(['kiro', 'spec-kit'] as const)('of %s', { timeout: PATIENT }, async (layout) => {
    await many(layout, 60, async (dice, name) => {
      const { files, expected } = listBoard(dice, layout)
      await expectBuilt(files, expected, name)
    })
  })

  it('of cairn', { timeout: PATIENT }, async () => {
    await many('cairn', 60, async (dice, name) => {
      const { files, expected } = cairnBoard(dice)
      await expectBuilt(files, expected, name)
    })
  })

  it('of Task Master, half written', { timeout: PATIENT }, async () => {
    await many('half of task-master', 40, async (dice, name) => {
      const [[path = '', text] = []] = Object.entries(taskMasterBoard(dice))
      const half = String(text).slice(0, Math.floor(String(text).length * dice.next()))
      const { tasks, config } = await listedBoard(makeFolder({ [path]: half }))
      expect.soft(config?.invalid, name).toContain('tasks.json')
      expect.soft(tasks, name).toEqual([])
    })
  })
})

interface Change {
  name: string
  completedTasks: number
  totalTasks: number
  nested?: string[]
}

describe.skipIf(noTools !== '')(`odd boards beside their tools${noTools}`, () => {
  it('of OpenSpec', { timeout: PATIENT }, async () => {
    await many('openspec', 5, async (dice, name) => {
      const dir = makeFolder(openSpecBoard(dice))
      const { tasks } = await listedBoard(dir)
      const open = tasks.filter(({ folder }) => folder === undefined)
      const odd = new Set<string>()
      const here = open.flatMap(({ id, parent, invalid }): [string, unknown][] => {
        if (parent !== undefined) return []
        const own = open.filter((task) => task.parent === id)
        const done = own.filter(({ status }) => status === 'done').length
        if (invalid !== undefined) odd.add(id)
        return [[id, [done, own.length]]]
      })
      const out = await ask('node_modules/.bin/openspec', ['list', '--json'], dir)
      const { changes } = JSON.parse(out.slice(out.indexOf('{'))) as { changes: Change[] }
      const there = changes.map((it): [string, unknown] => [
        it.name,
        [it.completedTasks, it.totalTasks],
      ])
      expect.soft(lines(here), name).toEqual(lines(there))
      const nested = changes.filter((it) => it.nested !== undefined).map((it) => it.name)
      expect.soft(sorted(odd), name).toEqual(expect.arrayContaining(nested))
    })
  })

  // It lists nothing at all where two files have one id, so it is not shown those: they are held to
  // how they were built, and what waits for them is never ready.
  it('of Backlog.md', { timeout: PATIENT }, async () => {
    await many('backlog-md', 4, async (dice, name) => {
      const { files, broken, copied } = backlogBoard(dice)
      const { tasks, config } = await listedBoard(makeFolder(files))
      const rows = tasks.filter(({ folder }) => folder === undefined)
      expect
        .soft(tasks, name)
        .toHaveLength(Object.keys(files).filter((it) => isTaskFile(it)).length)
      for (const [id] of copied) {
        expect.soft(rows.filter((row) => row.id === id && row.title === 'Fill')).toHaveLength(1)
        expect.soft(rows.filter((row) => row.id === `${id}~2` && row.invalid)).toHaveLength(1)
      }

      const unseen = new Set([...broken, ...[...copied.values()].flat()])
      const shown = Object.entries(files).filter(([path]) => !unseen.has(path))
      const dir = makeFolder(Object.fromEntries(shown))
      const list = async (...more: string[]) => {
        const out = await ask(BACKLOG, ['task', 'list', ...more, '--json'], dir)
        return (JSON.parse(out) as { tasks: { id: string; status: string }[] }).tasks
      }
      const all = await list().catch(() => undefined)
      if (!all) {
        expect.soft(config?.invalid, name).toBeDefined()
        expect(
          tasks.filter(({ ready }) => ready),
          name,
        ).toEqual([])
        return
      }
      const ready = new Set((await list('--ready')).map(({ id }) => id))
      const odd = new Set(rows.flatMap(({ id, invalid }) => (invalid ? [id] : [])))
      const there = all
        .filter(({ id }) => !odd.has(id))
        .map(({ id, status }): [string, unknown] => [id, [plain(status), ready.has(id)]])
      const listed = new Set(there.map(([id]) => id))
      const whole = rows.filter(({ id }) => !odd.has(id) && !copied.has(id))
      // The tool hides a file with such an assignee, and one whose number has no prefix.
      const hidden = whole.filter(({ id }) => !listed.has(id))
      const mayHide = shown.filter(([, text]) => /^assignee:.*(?<!['"])@|^id: \d/m.test(`${text}`))
      expect.soft(hidden.length, name).toBeLessThanOrEqual(mayHide.length)
      const here = whole
        .filter(({ id }) => listed.has(id))
        .map(({ id, status, ready: isReady, deps = [] }): [string, unknown] => {
          // It begins what waits for a task whose file says something else than a status.
          const isHeld = !isReady && ready.has(id) && deps.some((dep) => odd.has(dep))
          return [id, [plain(status), isReady || isHeld]]
        })
      expect.soft(lines(here), name).toEqual(lines(there))
    })
  })

  it('of Task Master', { timeout: PATIENT }, async () => {
    await many('task-master', 1, async (dice, name) => {
      const dir = makeFolder({ ...UNREPORTED, ...taskMasterBoard(dice) })
      const { tasks } = await listedBoard(dir)
      const args = ['list', '--json', '--all-tags']
      const list = async (...more: string[]) => {
        const listed = await askTaskMaster<{
          tasks: { id: string; tagName: string; status: string }[]
        }>([...args, ...more], dir)
        return listed.tasks.map((it) => ({ ...it, id: `${it.tagName}:${it.id}` }))
      }
      const [all, begun] = await Promise.all([list(), list('--ready')])
      const ready = new Set(begun.map(({ id }) => id))
      const there = all.map(({ id, status }): [string, unknown] => [id, [status, ready.has(id)]])
      const here = tasks
        .filter(({ parent }) => parent === undefined)
        .map((task): [string, unknown] => [task.id, [task.status, task.ready]])
      expect.soft(lines(here), name).toEqual(lines(there))
    })
  })
})

const SCRIPT =
  'node_modules/bmad-method/src/bmm-skills/plan/bmad-sprint-planning/scripts/sprint_plan.py'
const noBmad = noPython('ruamel.yaml')

describe.skipIf(noBmad !== '')(`odd boards beside their tools${noBmad}`, () => {
  it('of BMAD', { timeout: PATIENT }, async () => {
    await many('bmad', 10, async (dice, name) => {
      const { files, statusFile } = bmadBoard(dice)
      const dir = makeFolder(files)
      const { tasks, config } = await listedBoard(dir)
      const args = [inTools(SCRIPT), 'status', '--status-file', join(dir, statusFile)]
      const out = await ask(PYTHON, args, dir).catch(
        (error: { stdout?: string }) => error.stdout ?? '',
      )
      // It crashes where a status is a list.
      const answer = JSON.parse(out || '{"ok":false}') as { ok: boolean } & Record<
        string,
        Record<string, number>
      >
      if (!answer.ok) {
        // The tool reads none of it. What is odd in it is marked, or there is no task in it.
        const isSaid =
          tasks.length === 0 || [config, ...tasks].some((row) => row?.invalid !== undefined)
        expect.soft(isSaid, `${name}: ${out}`).toBe(true)
        return
      }
      const count = (type: string, counts: Record<string, number> = {}) =>
        Object.entries(counts).map(([status, n]): [string, unknown] => [`${type} ${status}`, n])
      const there = [
        ...count('story', answer.stories),
        ...count('epic', answer.epics),
        ...count('retrospective', answer.retrospectives),
      ]
      const here = new Map<string, number>()
      for (const { type, status, invalid } of tasks) {
        if (invalid === undefined)
          here.set(`${type} ${status}`, (here.get(`${type} ${status}`) ?? 0) + 1)
      }
      expect.soft(lines(here), name).toEqual(lines(there))
      const odd =
        Object.values(answer.illegal ?? {}).length + Object.values(answer.unrecognized ?? {}).length
      expect(
        tasks.filter(({ invalid }) => invalid !== undefined),
        name,
      ).toHaveLength(odd)
    })
  })
})
