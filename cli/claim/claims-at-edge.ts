// The claims of a board at its edge, over HTTP.

import type {
  BoardSettings,
  BoardSettingsChange,
  BoardStatus,
  Claimed,
  ClaimRenewal,
  ClaimRequest,
  HeldClaim,
  Sessions,
  Task,
  Tasks,
} from '../../libraries/api/types.ts'
import { taskRoute } from '../../libraries/client/message.ts'
import { BoardError } from '../../libraries/client/types.ts'
import { statusesOf } from '../../worker/board/tasks/to-do.ts'
import type { BoardAtEdge } from '../board/edge-board.ts'
import { askEdge, EdgeRefused } from '../request.ts'
import type { Release } from './kept-claims.ts'

/** Whether the edge answered with one of these codes. */
export const isCode = (error: unknown, ...codes: readonly string[]): boolean =>
  error instanceof BoardError && codes.includes(error.code)

/** Whether no Signalbox answered: it may be starting again. */
export const isAway = (error: unknown): boolean => isCode(error, 'unreachable')

const TRIES = 4
const PAUSE_MS = 500

export type ClaimsAtEdge = ReturnType<typeof claimsAt>

export function claimsAt({ path: board = '', ...edge }: BoardAtEdge) {
  /** Sent again after a failure: it is answered the same. Throws BoardError. */
  async function ask<Answer>(route: string, body?: object, method?: 'PUT'): Promise<Answer> {
    for (let tries = 1; ; tries++) {
      try {
        return await askEdge<Answer>(edge, route, { board, body, ...(method && { method }) })
      } catch (error) {
        if (!(error instanceof BoardError)) throw error
        if (error instanceof EdgeRefused && error.status < 500) throw error
        if (tries === TRIES) throw new BoardError(0, 'unreachable', error.message)
      }
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS * tries))
    }
  }
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
      const row = await ask<Task>(taskRoute(id))
      const { config } = await ask<Pick<BoardStatus, 'config'>>('/status')
      const copy = tree === undefined ? row : row.trees?.find((it) => it.tree === tree)
      return copy?.status !== undefined && statusesOf(config).isClosed(copy.status)
    },
  }
}
