// The query parameters of a board's routes, and what its lists are filtered by.

import * as z from 'zod'
import { choice } from '../shared/query.ts'
import { executionSchema, healthSchema } from './records.ts'

/** `request-hono.ts` checks it before all others: it decides who may ask. */
const path = z
  .string()
  .min(1)
  .max(512)
  .describe('The repository. Needed unless the token names exactly one; prefixes name none.')
  .exactOptional()

export const repositoryQuery = z.object({ path })

export const sidecarQuery = repositoryQuery.extend({
  run: z
    .string()
    .regex(/^[1-9]\d{0,15}$/)
    .describe('The sidecar’s run, from its sync.'),
})

const filter = (description: string) => z.string().describe(description).exactOptional()

/** Anything: a place that is not known is answered with the whole list. */
const since = z
  .string()
  .describe('An event id, or `X-Signalbox-Seq` of a read: only what changed after it.')
  .exactOptional()

export const tasksQuery = repositoryQuery.extend({
  since,
  status: filter('One of the states of the board.'),
  assignee: filter('Any one of the assignees of a task.'),
  ready: choice(['true', 'false']).exactOptional(),
  execution: choice(executionSchema.options).exactOptional(),
  label: filter('Any one of the labels of a task.'),
  folder: filter('Such as `drafts`, `completed` or `archive`; `none`: tasks without one.'),
  tree: filter('The name of a linked worktree: tasks that it changed.'),
  review: choice(['true'])
    .describe('Tasks that are done, in a tree or as who did them says, and open in the main tree.')
    .exactOptional(),
  work: choice(['work', 'silent', 'stalled'])
    .describe(
      'Tasks on which somebody works (`work`, with the silent), shows no sign of it (`silent`), ' +
        'or did so until a claim expired or a session was stale (`stalled`).',
    )
    .exactOptional(),
  after: filter(
    'The `next` of the last answer: only what comes after that task. Not with `since`.',
  ),
  limit: filter('How many tasks at most: 1 to 1,000; absent: all. Not with `since`.'),
})

export const sessionsQuery = repositoryQuery.extend({
  since,
  task: filter('The id of a task.'),
  actor: filter('Who works in it.'),
  status: filter('As the tool has it.'),
  health: choice(healthSchema.options).exactOptional(),
  tree: filter('The name of a linked worktree: sessions that it has.'),
})
