// The states of a day: what a page counts and what the edge's filters list is what a model says, at
// random moments of a day in which agents work and people merge hours later.

import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { Seeded } from '../../../../../tools/harness/seeded.ts'
import type { Query } from '../../../../../worker/board/repository/reads.ts'
import { readyTasks } from '../../../../../worker/board/tasks/free-tasks.ts'
import {
  stateOf,
  type TaskState,
  workByTask,
} from '../../../../../worker/board/tasks/task-state.ts'
import { statusesOf } from '../../../../../worker/board/tasks/to-do.ts'
import type { BoardConfig, Session, Task } from '../../../../../worker/board/wire.ts'
import { listedBoard } from '../../../../support/listed-board.ts'
import { AgentsDay, STEPS } from './agents-day.ts'

const { REAL_BOARDS = '' } = process.env
const LAYOUTS = ['backlog-md', 'task-master', 'cairn', 'openspec', 'kiro', 'spec-kit', 'bmad']

/** How much of a day is played, and at how many moments of it one looks. */
const DAY = { steps: STEPS, moments: 50 }
/** Of a real board: what a planted mistake shows of itself, it shows by then. */
const EIGHT_HOURS = { steps: 96, moments: 20 }

interface Listed {
  tasks: Task[]
  config: BoardConfig
}

/** Parents with parts, chains of deps, priorities. */
function madeUp(): Listed {
  const tasks = Array.from({ length: 240 }, (_, n): Task => {
    const isWhole = n % 12 === 0
    const deps = n % 5 === 4 ? [`A-${n - 1}`] : []
    const isReady = deps.length === 0
    return {
      id: `A-${n}`,
      title: `Task ${n}`,
      status: n % 17 === 16 ? 'In Progress' : 'To Do',
      ready: isReady,
      ...(deps.length > 0 && { deps }),
      ...(!isWhole && n % 3 > 0 && { parent: `A-${n - (n % 12)}` }),
      priority: ['high', 'medium', 'low'][n % 3] ?? 'low',
    }
  })
  const config = {
    layout: 'backlog-md',
    states: ['To Do', 'In Progress', 'Done'],
    closed: ['Done'],
  }
  return { tasks, config: config as BoardConfig }
}

async function realBoard(layout: string): Promise<Listed> {
  const { tasks, config } = await listedBoard(join(REAL_BOARDS, layout))
  if (!config) throw new Error(`${layout} has no configuration`)
  return { tasks, config }
}

async function play({ tasks, config }: Listed, seed: number, { steps, moments: count } = DAY) {
  const random = new Seeded(seed)
  const day = new AgentsDay(tasks, config, random)
  const moments = new Set<number>()
  while (moments.size < count) moments.add(1 + random.below(steps))
  const seen = new Set<TaskState>()
  await day.run(steps, async (step) => {
    if (!moments.has(step)) return
    const expected = day.model.states(day.clock.now())
    for (const state of expected.values()) seen.add(state)
    const read = async (query: Query) => {
      const answer = await day.repository.read(query, undefined)
      if (answer.state !== 'found') throw new Error(answer.state)
      return JSON.parse(await new Response(answer.body).text())
    }
    const rows: Task[] = (await read({ kind: 'tasks', filter: {} })).tasks
    const sessions: Session[] = (await read({ kind: 'sessions', filter: {} })).sessions
    const { silentAfterMs } = await read({ kind: 'status' })
    const work = workByTask(sessions)
    const ready = new Set(readyTasks(new Map(rows.map((it) => [it.id, it])), config).tasks)
    const facts = { now: day.clock.now(), silentAfterMs, isClosed: statusesOf(config).isClosed }
    const shown = rows.flatMap((row): [string, TaskState][] => {
      const found = stateOf(row, work.get(row.id) ?? [], { ...facts, isReady: ready.has(row) })
      return found ? [[row.id, found.state]] : []
    })
    const isIn = (states: readonly TaskState[]) =>
      [...expected].flatMap(([id, state]) => (states.includes(state) ? [id] : [])).sort()
    const list = async (filter: object) => {
      const { tasks: found } = await read({ kind: 'tasks', filter })
      return found.map(({ id }: Task) => id).sort()
    }
    expect([step, Object.fromEntries(shown)]).toEqual([step, Object.fromEntries(expected)])
    expect(await list({ work: 'work' })).toEqual(isIn(['work', 'silent']))
    expect(await list({ work: 'silent' })).toEqual(isIn(['silent']))
    expect(await list({ work: 'stalled' })).toEqual(isIn(['stalled']))
    expect(await list({ review: 'true' })).toEqual(isIn(['review']))
  })
  return { seen, did: day.did }
}

describe('at random moments of a day of eight agents, what is shown is what a model says', () => {
  it('of a board with parents, deps and priorities', async () => {
    const { seen, did } = await play(madeUp(), 1)
    expect(seen).toEqual(new Set(['stalled', 'silent', 'work', 'review', 'ready']))
    const acts = ['closes in its tree', 'says so alone', 'merges', 'deletes', 'gone', 'gives up']
    expect(Object.keys(did)).toEqual(expect.arrayContaining(acts))
  })

  const without = REAL_BOARDS === '' ? ' (skipped: REAL_BOARDS names no folder of boards)' : ''
  it.skipIf(REAL_BOARDS === '').each(LAYOUTS)(`of a real board of %s${without}`, async (layout) => {
    await play(await realBoard(layout), 2, EIGHT_HOURS)
  })
})
