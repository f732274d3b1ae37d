// What the room throws, as the answer that a client of the API gets.

import { Problem } from '../shared/problem.ts'
import {
  GatewayRefusedException,
  GatewayUnavailableException,
  InvalidArgumentException,
  PaymentConflictException,
} from './domain/exceptions.ts'
import { LedgerUnavailable, SchemaMismatch } from './ledger/ledger.ts'

/** An error that is none of the room's own comes back as it is. */
export function asProblem(error: unknown): unknown {
  if (error instanceof InvalidArgumentException || error instanceof PaymentConflictException) {
    return new Problem(error.code, error.message)
  }
  if (error instanceof GatewayRefusedException) {
    return new Problem(error.code, error.message, {
      cause: error.error.rawCode,
      fields: named(error),
    })
  }
  if (error instanceof GatewayUnavailableException) {
    const retryAfterS = error.retryAfterMs === undefined ? undefined : error.retryAfterMs / 1_000
    const cause = error.cause ?? error.message
    return new Problem(error.code, error.message, { cause, retryAfterS, fields: named(error) })
  }
  if (error instanceof LedgerUnavailable) {
    const sentence = 'The database of payments is out of reach.'
    return new Problem(error.code, sentence, { cause: error, fields: named(error) })
  }
  if (error instanceof SchemaMismatch) {
    return new Problem(error.code, error.message, { cause: error })
  }
  return error
}

/** The payment that is stored, so that whoever asked can look what becomes of it. */
const named = ({ transactionId }: { transactionId: string | undefined }) =>
  transactionId === undefined ? {} : { transactionId }
