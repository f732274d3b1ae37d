// The tools of claims: one agent, one task.

import * as z from 'zod'
import {
  claimedSchema,
  claimSchema,
  heldSchema,
  releaseSchema,
  renewSchema,
} from '../../worker/board/api/claim-requests.ts'
import { printable } from '../../worker/shared/printable.ts'
import { MAY_PASS } from '../../worker/shared/problem.ts'
import type { Claimed, ClaimRequest, HeldClaim } from '../api/types.ts'
import { ask, boardOf, type Call, type Caller, isRefused, Refused } from './caller.ts'
import { changesOf, within } from './changes.ts'
import { board, claim, seconds, type Tool, tool } from './tool.ts'

/** A model may think for long between two calls. */
const LEASE_MS = 3_600_000

const { claim: _claim, actor, ttlMs: _ttlMs, ...wanted } = claimSchema.shape
const agentName = actor.describe('Your name: each subagent has one of its own, and keeps it.')

const claimTask = ({ needsAgent }: Caller) =>
  tool({
    name: 'claim_task',
    title: 'Claim a task',
    description:
      'Gives you a task that nobody else can take as well: the next that is free, or `task`. ' +
      'Keep the `claim` of the answer, and give it to every other call. Nothing is written into ' +
      'the board: mark the task there yourself, do it, close it there, and call release_claim.',
    reads: false,
    input: z.strictObject({
      board,
      agent: needsAgent ? agentName : agentName.exactOptional(),
      claim: claim.describe('To be answered the same again. Left out, it is made.').exactOptional(),
      ...wanted,
      wait_seconds: seconds.default(0).describe('Wait so long until there is one.'),
    }),
    output: claimedSchema.extend({ claim }),
    async run({ board, agent, claim, wait_seconds, ...filter }, call) {
      const { actor, from } = call.caller
      const path = await boardOf(call, board)
      const who = agent === undefined ? actor : `${actor}/${agent}`
      const body = { ...from, ...filter, actor: who, ttlMs: LEASE_MS }
      const words = JSON.stringify([path, who, filter, call.requestId])
      const take = () => taken(call, path, body, claim === undefined ? made(call, words) : [claim])
      return await asItChanges(call, path, wait_seconds, take)
    },
    text: ({ task, expiresAt, claim }) =>
      [
        `${printable(task.id)} is yours until ${expiresAt}: ${printable(task.title)}`,
        ...(task.file === undefined ? [] : [`file: ${printable(task.file)}`]),
        `claim: ${claim}`,
      ].join('\n'),
  })

const renewClaim = tool({
  name: 'renew_claim',
  title: 'Renew a claim',
  description:
    'Goes on holding a task for an hour, and says what you do now. Refused with `claim_lost`: ' +
    'the task is somebody else’s. Stop.',
  reads: false,
  input: z.strictObject({ board, claim, progress: renewSchema.shape.progress }),
  output: heldSchema,
  run: async ({ board, ...body }, call) =>
    await ask<HeldClaim>(call, '/claims/renew', { board: await boardOf(call, board), body }),
  text: heldText,
})

const { outcome, summary } = releaseSchema.shape
const releaseClaim = tool({
  name: 'release_claim',
  title: 'Release a claim',
  description:
    'Ends your claim: `done` after you closed the task on the board, `abandoned` where you ' +
    'cannot go on, so that another agent may begin it.',
  reads: false,
  input: z.strictObject({ board, claim, outcome, summary }),
  output: heldSchema,
  async run({ board, ...body }, call) {
    const path = await boardOf(call, board)
    const ended = await ask<HeldClaim>(call, '/claims/release', { board: path, body })
    await call.caller.held?.ended(body.claim)
    return ended
  },
  text: heldText,
})

export const claimTools = (caller: Caller): readonly Tool[] => [
  claimTask(caller),
  renewClaim,
  releaseClaim,
]

function heldText({ task, title, expiresAt, end }: HeldClaim): string {
  const name = `${printable(task)} (${printable(title)})`
  return end
    ? `The claim of ${name} has ended: ${end.outcome}.`
    : `${name} is yours until ${expiresAt}.`
}

type Given = Claimed & { claim: string }
type Wanted = Pick<ClaimRequest, 'actor' | 'ttlMs'> & { ttlMs: number }
type Secrets = Iterable<string | Promise<string>>

/**
 * Each is the same for the same call, so that one whose answer is lost is no second claim. The edge
 * keeps the newest thousand that have ended: no row of them is longer.
 */
function* made({ caller }: Call, words: string): Generator<Promise<string>> {
  const { secretFor } = caller
  if (!secretFor) {
    const error = 'claim is missing: this edge has no AUTH_SECRETS to make one of.'
    throw new Refused({ error, code: 'invalid_request' })
  }
  for (let n = 0; ; n++) yield secretFor(`${n} ${words}`)
}

/** With the first secret whose claim has not ended; where one was given, there is no other. */
async function taken(call: Call, board: string, body: Wanted, secrets: Secrets): Promise<Given> {
  const { held } = call.caller
  let lost: unknown
  for await (const claim of secrets) {
    const take = () => ask<Claimed>(call, '/claims', { board, body: { ...body, claim } })
    try {
      const given = held ? held.taking({ ...body, board, claim }, take) : take()
      return { ...(await given), claim }
    } catch (error) {
      if (!isRefused(error, 'claim_lost')) throw error
      lost = error
    }
  }
  throw lost
}

/** As soon as it is given. After the time, what was refused last. */
async function asItChanges(
  call: Call,
  board: string,
  waitSeconds: number,
  take: () => Promise<Given>,
): Promise<Given> {
  if (waitSeconds === 0) return await take()
  const signal = within(call, waitSeconds)
  let refusal: unknown
  // The stream first: it then has what becomes free while we ask.
  for await (const _ of changesOf(call, board, { signal })) {
    try {
      return await take()
    } catch (error) {
      if (!isRefused(error, ...MAY_PASS)) throw error
      refusal = error
    }
  }
  throw refusal ?? new Refused({ error: 'No task is free to begin.', code: 'nothing_ready' })
}
