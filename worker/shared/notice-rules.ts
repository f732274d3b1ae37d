// What people want to be told of a board, as signalbox.config.ts has it. Pure.

import * as z from 'zod'
import { checkFields } from './fields.ts'
import { addressProblem } from './outgoing.ts'

export const NOTICE_CAUSES = [
  'stalled',
  'silent',
  'ready',
  'blocked',
  'review',
  'parent_done',
  'offline',
  'claim_taken',
] as const
/** The name of a rule, too. */
export type NoticeCause = (typeof NOTICE_CAUSES)[number]

/** What an address is of; `webhook` is signed by Standard Webhooks. */
export const ADDRESSED = ['webhook', 'ntfy', 'slack', 'mattermost'] as const
export type Addressed = (typeof ADDRESSED)[number]

/** An entry of `notices`. */
export interface NoticeRule {
  on: NoticeCause
  /** How long it must have lasted. */
  minutes?: number
  to: NoticeTarget
}

/** One of these. */
export type NoticeTarget =
  | { webhook: string }
  | { ntfy: string }
  | { slack: string }
  | { mattermost: string }
  /** The program and its arguments, on the sidecar's machine. The text is added as the last one. */
  | { command: readonly string[] }

/** In minutes, for rules that name none. `silent` has the edge's `SILENT_AFTER`. */
export const DEFAULT_MINUTES: Readonly<Record<Exclude<NoticeCause, 'silent'>, number>> = {
  stalled: 0,
  // Between two tasks an agent holds none.
  ready: 5,
  // Most of a plan waits for a while.
  blocked: 24 * 60,
  review: 0,
  parent_done: 0,
  offline: 0,
  claim_taken: 0,
}

const MOST_RULES = 64
const MOST_MINUTES = 30 * 24 * 60
const MOST_CHARS = 2_048

const address = z
  .string()
  .max(MOST_CHARS)
  .refine((text) => addressProblem(text) === undefined, {
    error: ({ input }) => addressProblem(String(input)) ?? 'is not an address',
  })
const addresses = {
  webhook: address.exactOptional(),
  ntfy: address.exactOptional(),
  slack: address.exactOptional(),
  mattermost: address.exactOptional(),
}
const isOne = (to: object) => Object.keys(to).length === 1
const one = { error: `must name one of ${ADDRESSED.join(', ')} and command` }
const rule = <Command extends z.ZodType>(command: Command) =>
  z.strictObject({
    on: z.enum(NOTICE_CAUSES),
    minutes: z.number().min(0).max(MOST_MINUTES).exactOptional(),
    to: z.strictObject({ ...addresses, command: command.exactOptional() }).refine(isOne, one),
  })

const argument = z.string().max(MOST_CHARS)
const fileSchema = z.object({
  notices: z.array(rule(z.tuple([argument.min(1)], argument))).max(MOST_RULES),
})

/** A rule as a sidecar publishes it: its command stays on its machine, and has a name here. */
const publishedRuleSchema = rule(z.string().regex(/^[0-9a-f]{16}$/))
export const publishedRulesSchema = z.array(publishedRuleSchema).max(MOST_RULES)
export type PublishedRule = z.infer<typeof publishedRuleSchema>

/** What is wrong with `notices` of the file, one clause each. */
export function noticeProblems(notices: unknown): string[] {
  if (notices === undefined) return []
  const checked = checkFields(fileSchema, { notices })
  return checked.ok ? [] : [`signalbox.config.ts: ${checked.error.replace(/\.$/, '')}`]
}

/** For `--notify`: each cause, with its default time. */
export const allTo = (webhook: string): NoticeRule[] =>
  NOTICE_CAUSES.map((on) => ({ on, to: { webhook } }))
