// What agents send to claim a task, and what they get.

import * as z from 'zod'
import { checkFields, timeSchema } from '../../shared/fields.ts'
import { isPrintable, printable, printableLines } from '../../shared/printable.ts'
import { taskSchema } from '../records.ts'

const BYTES = new TextEncoder()
const MIN_TTL_MS = 10_000
const MAX_TTL_MS = 86_400_000
const TTL_MS = 600_000

const NAME_BYTES = 128
const text = (bytes: number) =>
  z
    .string()
    .min(1, { error: 'is empty' })
    .refine((value) => BYTES.encode(value).length <= bytes, {
      error: `must not be longer than ${bytes} bytes`,
    })
    // biome-ignore lint/suspicious/noControlCharactersInRegex: those are what is refused.
    .refine((value) => value.isWellFormed() && !/[\u0000-\u001f\u007f]/.test(value), {
      error: 'must not hold control characters',
    })
const name = text(NAME_BYTES)
/** It stands in logs, lists and refusals, where it could pass for another. */
const shownName = name.refine(isPrintable, {
  error: 'must not hold what cannot be seen or turns the direction of a text',
})
/** A text of several lines. */
const prose = z
  .string()
  .max(4_000)
  .refine((value) => value.isWellFormed())
  .overwrite(printableLines)

const claim = z
  .string()
  .regex(/^[A-Za-z0-9_-]{22}$/, { error: 'must be 22 characters of base64url' })
  .describe('A secret of 128 bits that the client makes, as base64url. Only its hash is stored.')
const ttlMs = z
  .int()
  .min(MIN_TTL_MS)
  .max(MAX_TTL_MS)
  .describe('How long it holds without a renewal.')

export const claimSchema = z
  .strictObject({
    claim,
    actor: shownName.describe('Who works: the same for all claims of one agent.'),
    task: text(1_024).describe('This one. Without it: the next that is free.').exactOptional(),
    label: name.describe('Only a task with this label.').exactOptional(),
    parent: text(1_024).describe('Only a task with this parent.').exactOptional(),
    tag: name.describe('Only a task of this list of the tool.').exactOptional(),
    assignee: name
      .describe('Tasks of this person count as free, too, with or without `@`.')
      .exactOptional(),
    tree: name.describe('The linked worktree that the agent works in.').exactOptional(),
    ttlMs: ttlMs.default(TTL_MS),
    max: z
      .int()
      .min(1)
      .max(16)
      .default(1)
      .describe('How many valid claims this actor may hold on this board, with this one.'),
    force: z.boolean().default(false).describe('Also a task that is not ready.'),
    client: shownName.exactOptional(),
    model: shownName.exactOptional(),
    // git takes any but C0, and an agent on such a branch did not name it.
    branch: text(1_024).overwrite(printable).exactOptional(),
  })
  .describe(
    'The same claim again is answered the same while it is valid, or `already_holding`, where ' +
      'its task is not what is asked for now.',
  )

export const renewSchema = z
  .strictObject({
    claim,
    ttlMs: ttlMs.describe('Default: its own.').exactOptional(),
    progress: prose.describe('What the agent does now; shown with the task.').exactOptional(),
    activeAt: z.iso
      .datetime({ offset: true, error: 'must be a time like 2026-01-31T12:00:00Z' })
      .describe('When the agent last showed that it works. Other `progress` shows it, too.')
      .exactOptional(),
  })
  .describe('Also the check whether it still holds.')

export const releaseSchema = z
  .strictObject({
    claim: claim.exactOptional(),
    session: z
      .string()
      .max(64)
      .describe('In place of the claim: a person ends that of somebody else.')
      .exactOptional(),
    outcome: z.enum(['done', 'abandoned']),
    summary: prose.exactOptional(),
  })
  .refine((asked) => (asked.claim === undefined) !== (asked.session === undefined), {
    error: 'needs either claim or session',
  })

const held = {
  generation: z.int().describe('Rises with each claim of the board, and never repeats.'),
  expiresAt: timeSchema.describe('Unless it is renewed until then.'),
  session: z.string().describe('The session that the claim is.'),
  board: z.string().describe('The repository.'),
}

export const claimedSchema = z.object({
  task: taskSchema,
  ...held,
  again: z.literal(true).describe('It was made before, and is valid.').exactOptional(),
})

export const heldSchema = z.object({
  task: z.string().describe('The id of the task.'),
  title: z.string().describe('Of the task, when the claim began.'),
  ...held,
  end: z
    .object({ outcome: z.enum(['done', 'abandoned', 'closed', 'deleted']), at: timeSchema })
    .describe(
      'It has ended: by its holder, or with the task, which reads `closed`, or is not there ' +
        '(`deleted`).',
    )
    .exactOptional(),
  returning: z
    .literal(true)
    .describe('Its end may be taken back: it is valid again once the task is there and open.')
    .exactOptional(),
})

export const checkClaim = (body: unknown) => checkFields(claimSchema, body)
export const checkRenewal = (body: unknown) => checkFields(renewSchema, body)
export const checkRelease = (body: unknown) => checkFields(releaseSchema, body)
