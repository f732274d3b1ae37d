// What is asked of the claims of a board, and what they answer.

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

export type ClaimRefusal =
  | NotChosen
  | { reason: 'unpublished' | 'unknown_claim' | 'too_many_claims' | 'forbidden' }
  | { reason: 'already_holding'; task: string }
  | { reason: 'claim_lost'; generation: number; by?: string }

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
