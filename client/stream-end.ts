// What a failed request means for the next one. Pure.

import type { StreamEnd } from './stream.ts'
import { BoardError, type LostReason } from './types.ts'

/** Nothing changes them but another token, path or host. */
const FINAL = [400, 401, 403]

export const isFinal = (error: BoardError): boolean => FINAL.includes(error.status)

export function endOf(error: unknown): StreamEnd {
  if (!(error instanceof BoardError)) return { reason: 'unreachable' }
  return isFinal(error) ? { refused: error } : { reason: reasonOf(error) }
}

function reasonOf({ status, code }: BoardError): LostReason {
  if (code === 'token') return 'token'
  return status === 0 ? 'unreachable' : 'failing'
}
