// The claims of a board at its edge, over HTTP.

import type {
  BoardSettings,
  BoardSettingsChange,
  BoardStatus,
  Claimed,
  ClaimRenewal,
  ClaimRequest,
  HeldClaim,
  Problem,
  Sessions,
  Task,
  Tasks,
} from '../../libraries/api/types.ts'
import { BoardError } from '../../libraries/client/types.ts'
import type { BoardAtEdge } from '../wait/edge-board.ts'
import type { Release } from './kept-claims.ts'

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

const codeOf = (error: unknown): string | undefined =>
  error instanceof ClaimRefused
    ? error.problem.code
    : error instanceof BoardError
      ? error.code
      : undefined

/** Whether the edge answered with one of these codes. */
export const isCode = (error: unknown, ...codes: readonly string[]): boolean =>
  codes.includes(codeOf(error) ?? '')

/** Whether no Signalbox answered: it may be starting again. */
export const isAway = (error: unknown): boolean => isCode(error, 'unreachable')

const ANSWERED_WITHIN_MS = 10_000
const TRIES = 4
const PAUSE_MS = 500

export type ClaimsAtEdge = ReturnType<typeof claimsAt>

export function claimsAt({ url, path = '', token }: BoardAtEdge) {
  /** Sent again after a failure: it is answered the same. Throws ClaimRefused, BoardError. */
  async function ask<Answer>(route: string, body?: object, method = 'POST'): Promise<Answer> {
    const mark = route.includes('?') ? '&' : '?'
    const target = `${url}/api${route}${mark}path=${encodeURIComponent(path)}`
    for (let tries = 1; ; tries++) {
      // One that cannot be read has a sentence of its own.
      const headers = {
        authorization: `Bearer ${await token()}`,
        'content-type': 'application/json',
      }
      try {
        const response = await fetch(target, {
          headers,
          ...(body && { method, body: JSON.stringify(body) }),
          // It would carry the claim's secret along.
          redirect: 'manual',
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
      ask<Claimed>('/claims', asked),
    renew: (asked: ClaimRenewal) => ask<HeldClaim>('/claims/renew', asked),
    release: (asked: { claim: string } & Release) => ask<HeldClaim>('/claims/release', asked),
    /** Changes what is named. */
    set: (change: BoardSettingsChange) => ask<BoardSettings>('/board-settings', change, 'PUT'),
    /** Sessions that have not ended, and their tasks. `now` in ms. */
    async overview() {
      const [{ silentAfterMs, now }, ...found] = await Promise.all([
        ask<BoardStatus>('/status'),
        ...['active', 'stalled'].map((it) => ask<Sessions>(`/sessions?health=${it}`)),
        ...['work', 'stalled'].map((it) => ask<Tasks>(`/tasks?work=${it}`)),
      ])
      const sessions = found.flatMap((it) => ('sessions' in it ? it.sessions : []))
      const tasks = found.flatMap((it) => ('tasks' in it ? it.tasks : []))
      return { sessions, tasks, silentAfterMs, now: Date.parse(now) }
    },
    /** Whether the task is closed in this linked worktree, else in the main one. */
    async isClosed(id: string, tree: string | undefined): Promise<boolean> {
      const row = await ask<Task>(`/tasks/${encodeURIComponent(id)}`)
      const { config } = await ask<{ config?: { closed: string[] } }>('/status')
      const copy = tree === undefined ? row : row.trees?.find((it) => it.tree === tree)
      return copy?.status !== undefined && (config?.closed.includes(copy.status) ?? false)
    },
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
