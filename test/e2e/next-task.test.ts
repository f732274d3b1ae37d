// The tools as judges: what a claim would take is what they call next, or ready.

import { describe, expect, test } from 'vitest'
import { readyTasks } from '../../worker/board/free-tasks.ts'
import { ask, copyOf, noTools } from '../support/judges.ts'
import { listedBoard } from '../support/listed-board.ts'

const { REAL_BOARDS = '' } = process.env
const why = REAL_BOARDS === '' ? ' (skipped: REAL_BOARDS names no folder with boards)' : noTools

describe.skipIf(why !== '')(`on a real board${why}`, () => {
  const readyOn = async (dir: string) => {
    const { tasks, config } = await listedBoard(dir)
    return { config, ...readyTasks(new Map(tasks.map((task) => [task.id, task])), config) }
  }

  test('the next task is that of Task Master, or a part of it', async () => {
    const dir = await copyOf(`${REAL_BOARDS}/task-master`)
    const { tasks, next, config } = await readyOn(dir)
    const answer = await ask('node_modules/.bin/task-master', ['next', '--format', 'json'], dir)
    const { task, tag } = JSON.parse(answer) as { task: { id: string }; tag: string }
    expect(tag).toBe(config?.currentTag)
    const id = `${tag}:${task.id}`
    const chosen = next(tasks)
    expect([chosen?.id, chosen?.parent]).toContain(id)
  }, 60_000)

  test('what can be begun is ready for Backlog.md', async () => {
    const dir = await copyOf(`${REAL_BOARDS}/backlog-md`)
    const { tasks } = await readyOn(dir)
    const list = ['task', 'list', '--ready', '--plain']
    const answer = await ask('node_modules/.bin/backlog', list, dir)
    const ready = new Set(answer.match(/\b[A-Z]+-\d+(\.\d+)*\b/g))
    expect(tasks.length).toBeGreaterThan(0)
    expect(tasks.filter(({ id }) => !ready.has(id)).map(({ id }) => id)).toEqual([])
  }, 60_000)

  test('the next of an OpenSpec change is the first that its list has open', async () => {
    const dir = await copyOf(`${REAL_BOARDS}/openspec`)
    const { tasks, next } = await readyOn(dir)
    const answer = await ask('node_modules/.bin/openspec', ['list', '--json'], dir)
    const { changes } = JSON.parse(answer) as {
      changes: { name: string; completedTasks: number; totalTasks: number }[]
    }
    const open = changes.filter((it) => it.completedTasks < it.totalTasks).map(({ name }) => name)
    const parents = new Set(tasks.map(({ parent }) => parent))
    expect(parents).toEqual(new Set(open))
    for (const parent of parents) {
      const own = tasks.filter((task) => task.parent === parent)
      const first = own.toSorted((a, b) => (a.rank ?? 0) - (b.rank ?? 0))[0]
      expect(next(own)?.id).toBe(first?.id)
    }
  }, 60_000)
})
