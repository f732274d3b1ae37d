// What a lead sets for a board, as it is sent and shown: its schema, and its check.

import * as z from 'zod'
import { type BoardSettings, MAX_VALID } from '../../shared/board-settings.ts'
import { checkFields } from '../../shared/fields.ts'

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
const changes = Object.fromEntries(
  Object.entries(settings).map(([name, schema]) => [name, schema.exactOptional()]),
) as { [Name in keyof BoardSettings]: z.ZodExactOptional<(typeof settings)[Name]> }
export const settingsChangeSchema = z.strictObject(changes)

export type SettingsChange = z.infer<typeof settingsChangeSchema>

export const checkSettings = (body: unknown) => checkFields(settingsChangeSchema, body)
