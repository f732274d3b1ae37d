// The tools that read boards.

import * as z from 'zod'
import { activityQuery, activitySchema } from '../../worker/board/activity/activity-rows.ts'
import { tasksQuery } from '../../worker/board/queries.ts'
import { printable } from '../../worker/shared/printable.ts'
import { boardsSchema, taskDetailSchema, tasksSchema } from '../api/board-answers.ts'
import type { Boards, Task, Tasks } from '../api/types.ts'
import { activityText } from './activity-text.ts'
import { ask, boardOf, routeOf } from './caller.ts'
import { READING, type Tool, tool } from './tool.ts'

const MAX_ROWS = 1_000
const ROWS = 100
const limit = z.int().min(1).max(MAX_ROWS).default(ROWS).describe('How many rows at most.')

const listBoards = tool({
  name: 'list_boards',
  title: 'Boards',
  description: 'The task boards that the token covers.',
  reads: true,
  input: z.strictObject({}),
  output: boardsSchema,
  run: (_, call) => ask<Boards>(call, '/boards'),
  text: ({ boards }) =>
    linesOf(boards, ({ path, title, counts }) => {
      const all = counts ? ` (${counts.tasks} tasks, ${counts.ready} ready)` : ''
      return `${path}: ${title ?? ''}${all}`
    }),
})

const { path: _path, since: _since, ...filters } = tasksQuery.shape
const listTasks = tool({
  name: 'list_tasks',
  title: 'Tasks',
  description:
    'Tasks of a board, without their bodies. `ready` alone does not say that nobody works on a ' +
    'task: claim_task gives one that is free.',
  reads: true,
  input: z.strictObject({
    ...READING,
    ...filters,
    ready: z.boolean().exactOptional(),
    review: z
      .literal(true)
      .describe(filters.review.description ?? '')
      .exactOptional(),
    limit,
  }),
  output: tasksSchema.pick({ tasks: true, next: true }),
  run: async ({ board, claim: _claim, ...query }, call) =>
    await ask<Tasks>(call, '/tasks', { board: await boardOf(call, board), query }),
  text: ({ tasks, next }) =>
    linesOf(tasks, lineOf) +
    (next === undefined ? '' : `\nThere are more: filter, or ask with after ${printable(next)}.`),
})

const getTask = tool({
  name: 'get_task',
  title: 'One task',
  description: 'A task with its body, the runs of its checks, and who works on it.',
  reads: true,
  input: z.strictObject({ ...READING, task: z.string().min(1).max(1_024).describe('Its id.') }),
  output: taskDetailSchema,
  run: async ({ board, task }, call) =>
    await ask<z.output<typeof taskDetailSchema>>(call, routeOf(task), {
      board: await boardOf(call, board),
    }),
  text({ body, sessions, ...task }) {
    const { deps = [], file, assignee } = task
    return [
      lineOf(task),
      ...(file === undefined ? [] : [`file: ${printable(file)}`]),
      ...(assignee === undefined ? [] : [`assignee: ${printable(assignee)}`]),
      ...(deps.length === 0 ? [] : [`waits for: ${deps.map(printable).join(', ')}`]),
      ...sessions
        .filter(({ health }) => health === 'active')
        .map(({ actor, startedAt }) => `${printable(actor)} works on it since ${startedAt}`),
      ...(body === undefined ? [] : ['', body]),
    ].join('\n')
  },
})

const { path: _board, before: _before, limit: _limit, ...rows } = activityQuery.shape
const history = tool({
  name: 'history',
  title: 'History',
  description: 'What became of the tasks and claims of a board, the newest first.',
  reads: true,
  input: z.strictObject({
    ...READING,
    ...rows,
    before: z.int().positive().describe('The `next` of the last answer.').exactOptional(),
    limit,
  }),
  output: activitySchema,
  run: async ({ board, claim: _claim, ...query }, call) =>
    await ask<z.output<typeof activitySchema>>(call, '/activity', {
      board: await boardOf(call, board),
      query,
    }),
  text: ({ activity }) => linesOf(activity, activityText),
})

export const BOARD_TOOLS: readonly Tool[] = [listBoards, listTasks, getTask, history]

const linesOf = <Row>(rows: readonly Row[], text: (row: Row) => string): string =>
  rows.length === 0 ? 'There are none.' : rows.map((row) => printable(text(row))).join('\n')

const lineOf = ({ id, status, ready, title }: Task): string =>
  printable(`${id} [${status}${ready ? ', ready' : ''}] ${title}`)
