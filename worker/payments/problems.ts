// Maps the errors of payments to the answers that a client of the API gets.

import { Problem } from '../shared/problem.ts'
import {
  GatewayRefusedException,
  GatewayUnavailableException,
  InvalidArgumentException,
  PaymentConflictException,
} from './domain/exceptions.ts'
import { LedgerUnavailable, SchemaMismatch } from './ledger/ledger.ts'

/** Other errors are returned unchanged. */
export function asProblem(error: unknown): unknown {
  if (error instanceof InvalidArgumentException) return new Problem(error.code, error.message)
  if (error instanceof PaymentConflictException) {
    const retryAfterS = secondsOf(error)
    return new Problem(error.code, error.message, { retryAfterS, fields: idOf(error) })
  }
  if (error instanceof GatewayRefusedException) {
    return new Problem(error.code, error.message, {
      cause: error.error.rawCode,
      fields: idOf(error),
    })
  }
  if (error instanceof GatewayUnavailableException) {
    const cause = error.cause ?? error.message
    const retryAfterS = secondsOf(error)
    return new Problem(error.code, error.message, { cause, retryAfterS, fields: idOf(error) })
  }
  if (error instanceof LedgerUnavailable) {
    const sentence = 'The database of payments cannot be reached.'
    return new Problem(error.code, sentence, { cause: error, fields: idOf(error) })
  }
  if (error instanceof SchemaMismatch) {
    return new Problem(error.code, error.message, { cause: error })
  }
  return error
}

/** The id of the stored payment, so that the client can look up its status. */
const idOf = ({ transactionId }: { transactionId: string | undefined }) =>
  transactionId === undefined ? {} : { transactionId }

const secondsOf = ({ retryAfterMs }: { retryAfterMs: number | undefined }) =>
  retryAfterMs === undefined ? undefined : retryAfterMs / 1_000
