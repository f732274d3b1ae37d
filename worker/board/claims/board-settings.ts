// What a lead may set for a board: whether tasks are handed out, and to how many at once; and what
// is refused for it.

import * as z from 'zod'
import { checkFields } from '../../shared/fields.ts'
import { codeOf } from '../../shared/problem.ts'

/** Valid claims of a board at once, and the most that a lead can allow. */
export const MAX_VALID = 1_000
const bound = `must be a whole number from 1 to ${MAX_VALID}, or null`
const settings = {
  paused: z.boolean().describe('Nothing is handed out. What is held goes on.'),
  perParent: z
    .boolean()
    .describe('One agent per parent: no task of which another holds one with the same `parent`.'),
  atMost: z
    .int({ error: bound })
    .min(1, { error: bound })
    .max(MAX_VALID, { error: bound })
    .nullable()
    .describe('So many valid claims at most. `null`: as many as are asked for.'),
}

export const settingsSchema = z.object(settings).describe('What a lead has set for a board.')
export const settingsChangeSchema = z.strictObject({
  paused: settings.paused.exactOptional(),
  perParent: settings.perParent.exactOptional(),
  atMost: settings.atMost.exactOptional(),
})

export type BoardSettings = z.infer<typeof settingsSchema>
export type SettingsChange = z.infer<typeof settingsChangeSchema>

export const checkSettings = (body: unknown) => checkFields(settingsChangeSchema, body)

/** Until somebody sets anything. */
export const NO_LIMITS: BoardSettings = { paused: false, perParent: false, atMost: null }

/** What whoever leads does not allow now, and may later. */
export type LimitRefusal =
  | { reason: 'board_paused' }
  /** `task`: what `by` holds of it. */
  | { reason: 'parent_taken'; parent: string; task: string; by: string }
  | { reason: 'board_full'; atMost: number }

type Limit = LimitRefusal['reason']

const WHY: { [Of in Limit]: (refusal: Extract<LimitRefusal, { reason: Of }>) => string } = {
  board_paused: () => 'The board is paused: nothing is handed out.',
  parent_taken: ({ parent }) =>
    `Somebody else works on a part of ${parent}, and one agent may at a time.`,
  board_full: ({ atMost }) => `No more than ${atMost} may work on this board at once.`,
}

export const LIMITED = Object.keys(WHY) as Limit[]
/** As clients get them. */
export const LIMIT_CODES: readonly string[] = LIMITED.map(codeOf)

export const isLimit = (refusal: { reason: string }): refusal is LimitRefusal =>
  refusal.reason in WHY

/** In one sentence. */
export const whyLimited = (refusal: LimitRefusal): string =>
  (WHY[refusal.reason] as (refusal: LimitRefusal) => string)(refusal)
