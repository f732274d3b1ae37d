// The query parameters of the read routes of boards. The schemas validate, and describe the
// parameters in the OpenAPI document.

import * as z from 'zod'
import { choice } from '../shared/query.ts'
import { executionSchema, healthSchema } from './records.ts'

/** `routes.ts` checks it before all others: it decides who may ask. */
const path = z
  .string()
  .min(1)
  .max(512)
  .describe('The repository. Needed unless the token names exactly one.')
  .exactOptional()

export const repositoryQuery = z.object({ path })

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
})

export const sessionsQuery = repositoryQuery.extend({
  since,
  task: filter('The id of a task.'),
  actor: filter('Who works in it.'),
  status: filter('As the tool has it.'),
  health: choice(healthSchema.options).exactOptional(),
})
