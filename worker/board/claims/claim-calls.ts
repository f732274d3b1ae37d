// What is asked of the claims of a board, and what they answer: over HTTP, too, if they refuse it.

import { isLimit, MAX_VALID, whyLimited } from '../../shared/board-settings.ts'
import { timeText } from '../../shared/clock.ts'
import { Problem } from '../../shared/problem.ts'
import { whySentence } from '../tasks/why-not.ts'
import type { NotChosen, Wish } from './choose.ts'
import type { ClaimEnd } from './claim-store-sqlite.ts'

export interface ClaimRequest extends Wish {
  /** The hash of its secret. */
  hash: string
  ttlMs: number
  /** How many the actor may hold, with this one. */
  max: number
  client?: string
  model?: string
  branch?: string
}

export interface Renewal {
  hash: string
  ttlMs?: number
  progress?: string
  /** When its holder last showed that it works, in ms. */
  activeAt?: number
  /** Only a claim that this one covers. */
  ofActor?: string
}

export type Release = ({ hash: string } | { session: string }) & {
  ofActor?: string
  outcome: 'done' | 'abandoned'
  summary?: string
}

/** A claim as its holder gets it. Times in ms. */
export interface Held {
  task: string
  title: string
  generation: number
  session: string
  expiresAt: number
  end?: Pick<ClaimEnd, 'outcome' | 'at'>
  /** It has ended, and its task may bring it back. */
  isReturning?: true
}

interface Unpublished {
  reason: 'unpublished'
}

export type ClaimRefusal =
  | NotChosen
  | Unpublished
  | { reason: 'unknown_claim' | 'too_many_claims' | 'forbidden' }
  | { reason: 'already_holding'; task: string }
  | { reason: 'claim_lost'; generation: number; by?: string }

/** Somebody else's claim may end at any time. */
const RETRY_S = 10

export function problemOf(refusal: Exclude<ClaimRefusal, Unpublished>): Problem {
  if (isLimit(refusal)) {
    const { reason, ...fields } = refusal
    return new Problem(reason, whyLimited(refusal), { fields })
  }
  const { reason } = refusal
  switch (reason) {
    case 'not_found':
      return new Problem(reason, 'There is no task with this id.')
    case 'nothing_ready':
      return new Problem(reason, 'No task is free to begin.')
    case 'closed':
      return new Problem(reason, 'The task is closed.')
    case 'not_ready': {
      const { why } = refusal
      return new Problem(reason, whySentence(why), { fields: { why } })
    }
    case 'forbidden':
      return new Problem(reason, 'The token is for the claims of another actor.')
    case 'unknown_claim':
      return new Problem(reason, 'There is no such claim on this board.')
    case 'too_many_claims': {
      const why = `The board has ${MAX_VALID.toLocaleString('en')} valid claims already.`
      return new Problem(reason, why, { retryAfterS: RETRY_S })
    }
    case 'claimed': {
      const { task, by, since, expiresAt } = refusal
      const fields = { task, by, since: timeText(since), expiresAt: timeText(expiresAt) }
      return new Problem(reason, `Somebody else works on ${task}.`, { fields })
    }
    case 'already_holding': {
      const { task } = refusal
      const why = 'The actor holds as many claims of this board as it may.'
      return new Problem(reason, why, { fields: { task } })
    }
    case 'claim_lost': {
      const { generation, by } = refusal
      const fields = { generation, ...(by !== undefined && { by }) }
      return new Problem(reason, 'The claim holds nothing any more.', { fields })
    }
  }
}

/** `frames`: what every connected stream must be sent, after the turn is stored. */
export type Claimed<Answer> = { frames: string[] } & (
  | { ok: true; answer: Answer }
  | ({ ok: false } & ClaimRefusal)
)

/** `task`: as `GET /api/tasks/{id}` has it, as JSON. */
export interface NewClaim extends Held {
  json: string
  /** It was made by an earlier call with the same secret. */
  isRepeated: boolean
}
