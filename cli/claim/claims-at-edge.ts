// The claims of a board at its edge, over HTTP.

import type { Claimed, ClaimRequest, HeldClaim, Problem } from '../../libraries/api/types.ts'
import { BoardError } from '../../libraries/client/types.ts'
import type { BoardAtEdge } from '../wait/edge-board.ts'

type Refusal = Omit<Problem, 'code'> & { code: string }

/** What the edge refused, with what it says of it. */
export class ClaimRefused extends Error {
  override readonly name = 'ClaimRefused'
  readonly problem: Refusal

  constructor(problem: Refusal) {
    super(problem.error)
    this.problem = problem
  }
}

const ANSWERED_WITHIN_MS = 10_000
const TRIES = 4
const PAUSE_MS = 500

export function claimsAt({ url, path = '', token }: BoardAtEdge) {
  /** Sent again after a failure: it is answered the same. Throws ClaimRefused, BoardError. */
  async function post<Answer>(route: string, body: object): Promise<Answer> {
    const target = `${url}/api/claims${route}?path=${encodeURIComponent(path)}`
    for (let tries = 1; ; tries++) {
      try {
        const response = await fetch(target, {
          method: 'POST',
          headers: {
            authorization: `Bearer ${await token()}`,
            'content-type': 'application/json',
          },
          body: JSON.stringify(body),
          signal: AbortSignal.timeout(ANSWERED_WITHIN_MS),
        })
        const text = await response.text()
        if (response.ok) return JSON.parse(text) as Answer
        if (response.status < 500) throw new ClaimRefused(problemIn(text, response.status))
        if (tries === TRIES) throw unreachable(`it answered ${response.status}`)
      } catch (error) {
        if (error instanceof ClaimRefused || error instanceof BoardError) throw error
        if (tries === TRIES) throw unreachable(String(error))
      }
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS * tries))
    }
  }
  const unreachable = (why: string) =>
    new BoardError(0, 'unreachable', `No Signalbox answers at ${url} (${why}).`)
  return {
    claim: (asked: Partial<ClaimRequest> & { claim: string; actor: string }) =>
      post<Claimed>('', asked),
    renew: (asked: { claim: string; ttlMs?: number; progress?: string }) =>
      post<HeldClaim>('/renew', asked),
    release: (asked: { claim: string; outcome: 'done' | 'abandoned'; summary?: string }) =>
      post<HeldClaim>('/release', asked),
  }
}

function problemIn(text: string, status: number): Refusal {
  try {
    const { error, code, ...fields } = JSON.parse(text) as Problem
    if (typeof error === 'string') return { ...fields, error, code: String(code) }
  } catch {
    // It is no answer of ours.
  }
  return { error: `The edge answered ${status}.`, code: 'internal' as const }
}
