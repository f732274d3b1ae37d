// What is asked and answered about notices: the schemas of their routes.

import * as z from 'zod'
import { checkFields, timeSchema } from '../../shared/fields.ts'
import {
  ADDRESSED,
  type Addressed,
  NOTICE_CAUSES,
  type NoticeCause,
} from '../../shared/notice-rules.ts'
import type { PublishedRule } from '../../shared/notice-schemas.ts'
import type { Seal } from '../../shared/seal.ts'

const count = z.int().nonnegative()
const on = z.enum(NOTICE_CAUSES)
const to = z.enum([...ADDRESSED, 'command'])
const host = z.string().describe('Of the address: nothing else of it is shown.').exactOptional()

const causeSchema = z.object({
  on,
  since: timeSchema.describe('When it began, or was first seen.'),
  task: z.string().describe('Its id; of `ready` the next one.').exactOptional(),
  title: z.string().exactOptional(),
  actor: z.string().exactOptional(),
  ready: count.describe('Of `ready`: how many tasks are.').exactOptional(),
})
const noticeSchema = z.object({
  causes: z.array(causeSchema),
  more: count.describe('How many causes were left out.').exactOptional(),
  test: z.literal(true).exactOptional(),
})
/** The causes of one turn. */
export type Notice = z.infer<typeof noticeSchema>

/** What a webhook gets, and a command on its standard input. `timestamp`: when it was decided. */
export interface NoticeBody {
  type: 'BoardNotice'
  timestamp: string
  data: Notice & { board: string }
}

export const deliverySchema = z.object({
  id: z.string().describe('The `webhook-id` of each of its tries.'),
  at: timeSchema.describe('When it was decided.'),
  to,
  host,
  state: z.enum(['pending', 'delivered', 'failed']).describe('`failed`: it is not tried again.'),
  attempts: count,
  nextAt: timeSchema.exactOptional(),
  endedAt: timeSchema.exactOptional(),
  status: z.int().describe('The receiver’s last answer.').exactOptional(),
  error: z.string().exactOptional(),
  ...noticeSchema.shape,
})

export const noticesSchema = z.object({
  rules: z.array(
    z.object({
      on,
      minutes: z.number(),
      to,
      host,
      problem: z.string().describe('Why none of its notices can be delivered.').exactOptional(),
    }),
  ),
  deliveries: z.array(deliverySchema).describe('The newest 50, newest first.'),
})
export type NoticesShown = z.infer<typeof noticesSchema>
export type ShownDelivery = z.infer<typeof deliverySchema>

export const testSchema = z.strictObject({ on })
export const testedSchema = z.object({ deliveries: z.array(deliverySchema) })

export const checkTest = (body: unknown) => checkFields(testSchema, body)

/** Where notices go, as the repository keeps it. */
export interface Destination {
  to: Addressed | 'command'
  /** Of an address: all that is shown. */
  host?: string
  /** The address, encrypted; absent where the edge has no secret. Of a command its name. */
  sealed?: string
}

export interface SealedRule extends Destination {
  on: NoticeCause
  minutes?: number
  /** The address, encrypted by secrets that are being replaced. */
  formerly?: readonly string[]
}

/** The rules of one board. The board's name is kept with them: an alarm may come without it. */
export interface BoardRules {
  board: string
  rules: readonly SealedRule[]
}

/** With their addresses encrypted. */
export const sealed = (rules: readonly PublishedRule[], seal: Seal): Promise<SealedRule[]> =>
  Promise.all(
    rules.map(async ({ to: { command, ...addresses }, ...rule }) => {
      if (command !== undefined) return { ...rule, to: 'command' as const, sealed: command }
      const [name = 'webhook'] = ADDRESSED.filter((it) => addresses[it] !== undefined)
      const address = addresses[name] ?? ''
      const [own, ...formerly] = await seal.close(address)
      const { host } = new URL(address)
      return { ...rule, to: name, host, ...(own !== undefined && { sealed: own, formerly }) }
    }),
  )
