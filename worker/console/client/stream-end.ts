// What a failed dial means for the next one. Pure.

import { BoardError, type LostReason } from './board-watch.ts'
import type { StreamEnd } from './stream.ts'

/** Nothing changes them but another token, path or host. */
const FINAL = [400, 401, 403]

export const isFinal = (error: BoardError): boolean => FINAL.includes(error.status)

export function endOf(error: unknown): StreamEnd {
  if (!(error instanceof BoardError)) return { reason: 'unreachable' }
  return isFinal(error) ? { refused: error } : { reason: reasonOf(error) }
}

export function reasonOf({ status, code }: BoardError): LostReason {
  if (code === 'token') return 'token'
  return status === 0 ? 'unreachable' : 'failing'
}
