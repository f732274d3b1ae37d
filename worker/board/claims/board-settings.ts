// What a lead sets for a board, as it is sent and shown: its schema, and its check.

import * as z from 'zod'
import { type BoardSettings, LIMITED, MAX_VALID } from '../../shared/board-limits.ts'
import { checkFields } from '../../shared/fields.ts'
import { codeOf } from '../../shared/problem.ts'

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
} satisfies Record<keyof BoardSettings, z.ZodType>

export const settingsSchema = z.object(settings).describe('What a lead has set for a board.')
export const settingsChangeSchema = z.strictObject({
  paused: settings.paused.exactOptional(),
  perParent: settings.perParent.exactOptional(),
  atMost: settings.atMost.exactOptional(),
})

export type SettingsChange = z.infer<typeof settingsChangeSchema>

export const checkSettings = (body: unknown) => checkFields(settingsChangeSchema, body)

/** What a claim is refused with, as clients get it. */
export const LIMIT_CODES: readonly string[] = LIMITED.map(codeOf)
