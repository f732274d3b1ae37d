// The schemas of `notices`, in the file and as a sidecar publishes them. The types of the file are
// in notice-rules.ts: the package has those without zod.

import * as z from 'zod'
import { checkFields } from './fields.ts'
import { ADDRESSED, NOTICE_CAUSES } from './notice-rules.ts'
import { addressProblem } from './outgoing.ts'

const MAX_RULES = 64
const MAX_MINUTES = 30 * 24 * 60
const MAX_CHARS = 2_048

const address = z
  .string()
  .max(MAX_CHARS)
  .refine((text) => addressProblem(text) === undefined, {
    error: ({ input }) => addressProblem(String(input)) ?? 'is not an address',
  })
const addresses = {
  webhook: address.exactOptional(),
  ntfy: address.exactOptional(),
  slack: address.exactOptional(),
  mattermost: address.exactOptional(),
}
const hasOneKey = (to: object) => Object.keys(to).length === 1
const ONE_TARGET = { error: `must name one of ${ADDRESSED.join(', ')} and command` }
const rule = <Command extends z.ZodType>(command: Command) =>
  z.strictObject({
    on: z.enum(NOTICE_CAUSES),
    minutes: z.number().min(0).max(MAX_MINUTES).exactOptional(),
    to: z
      .strictObject({ ...addresses, command: command.exactOptional() })
      .refine(hasOneKey, ONE_TARGET),
  })

const argument = z.string().max(MAX_CHARS)
const fileSchema = z.object({
  notices: z.array(rule(z.tuple([argument.min(1)], argument))).max(MAX_RULES),
})

/** A rule as a sidecar publishes it: its command stays on its machine, and has a name here. */
const publishedRuleSchema = rule(z.string().regex(/^[0-9a-f]{16}$/))
export const publishedRulesSchema = z.array(publishedRuleSchema).max(MAX_RULES)
export type PublishedRule = z.infer<typeof publishedRuleSchema>

/** What is wrong with `notices` of the file, one clause each. */
export function noticeProblems(notices: unknown): string[] {
  if (notices === undefined) return []
  const checked = checkFields(fileSchema, { notices })
  return checked.ok ? [] : [`signalbox.config.ts: ${checked.error.replace(/\.$/, '')}`]
}
