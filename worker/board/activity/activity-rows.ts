// What the history of a board holds, and how it is asked for. Its rows follow from what a sidecar
// publishes and from what becomes of claims (activity.ts).

import * as z from 'zod'
import { timeSchema } from '../../shared/fields.ts'
import { choice } from '../../shared/query.ts'
import { repositoryQuery } from '../queries.ts'
import { MARK_WORDS, type Mark } from './mark-words.ts'

/** Of claims: they say whether somebody held a task. */
export const CLAIM_KINDS = ['claimed', 'progress', 'released', 'expired', 'ended'] as const

// biome-ignore format: several names a line.
const KINDS = [
  'created', 'deleted', 'status', 'title', 'assignee', 'deps', 'checks', 'published',
  ...CLAIM_KINDS, 'review', 'merged', 'switched', 'sidecar',
] as const

/** Then a row goes. */
export const KEPT_MS = 90 * 86_400_000

const optionalText = z.string().exactOptional()
const value = z.union([z.string(), z.number(), z.boolean(), z.array(z.string())]).nullable()

const described = z.object({
  kind: z
    .enum(KINDS)
    .describe(
      'Of a task that changed, the first of these that fits. `published`: the first publication ' +
        'of the board, in one row. `ended`: the claim, with its task.',
    ),
  task: z.string().describe('Its id.').exactOptional(),
  title: z.string().describe('Of the task, cut at 500 characters.').exactOptional(),
  actor: z
    .string()
    .describe('Who has the claim; of a change of a task, who held it then or had finished it.')
    .exactOptional(),
  tree: z
    .string()
    .describe('The linked worktree: of the claim, or the only ones that have the task.')
    .exactOptional(),
  changes: z
    .record(z.string(), z.array(value).length(2))
    .describe(
      'By field: before, and after. `closed`: whether the status counts as closed. `health`: of ' +
        'the session that a claim is.',
    )
    .exactOptional(),
  summary: optionalText,
  by: z
    .enum(['switch', 'other'])
    .describe('`switch`: git switched the main tree. `other`: not the holder ended the claim.')
    .exactOptional(),
  caughtUp: z
    .literal(true)
    .describe('It was found when the board was published anew.')
    .exactOptional(),
})

/** What a change adds to the history. */
export type Entry = z.infer<typeof described>
export type Changes = Record<string, z.infer<typeof value>[]>

export const activityRowSchema = z
  .object({
    seq: z.int().positive().describe('Rises by one with each row.'),
    at: timeSchema.describe('By the clock of the edge.'),
    ...described.shape,
    marks: z
      .array(z.enum(Object.keys(MARK_WORDS) as Mark[]))
      .describe(
        '`deleted_while_open` once it has stood for 120 s. `unclaimed`: closed, and no claim of ' +
          'it was valid then, or finished in the 90 days before. They follow from the rows and ' +
          'the time of reading, and no hash covers them.',
      )
      .exactOptional(),
    hash: z
      .string()
      .regex(/^[0-9a-f]{64}$/)
      .describe('SHA-256 of the hash before, a line end, and the row as JSON without its marks.'),
  })
  .describe('A change of a task, a claim, or the board.')

export type ActivityRow = z.infer<typeof activityRowSchema>
/** A row without its marks and its hash, which stand behind it. */
export type Described = Omit<ActivityRow, 'marks' | 'hash'>

/** Both are checked where the codes of their failures are known. */
const checkedLater = z.string().exactOptional()

const filled = z.string().min(1, 'must not be empty')

export const activityQuery = repositoryQuery.extend({
  task: filled.describe('The id of a task, which may be gone.').exactOptional(),
  actor: filled.describe('Who did it.').exactOptional(),
  kind: choice(KINDS).exactOptional(),
  since: checkedLater.describe('An RFC 3339 time, or the id of an event: only what came after it.'),
  before: z
    .string()
    .regex(/^[1-9]\d{0,15}$/, 'must be the seq of a row')
    .describe('The `next` of the last answer: only what came before that row.')
    .exactOptional(),
  limit: checkedLater.describe('How many rows at most: 1 to 1,000, by default 100.'),
})

export const activitySchema = z.object({
  activity: z.array(activityRowSchema).describe('The newest first.'),
  next: z.int().positive().describe('There are older rows: `before=` it.').exactOptional(),
  previous: z
    .string()
    .describe('The hash before the last row here, where no filter leaves any out.')
    .exactOptional(),
})
