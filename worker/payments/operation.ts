// What a charge and a refund have in common: what they are made with, who asks for them, and what
// becomes of one whose gateway did not answer.

import * as z from 'zod'
import type { Clock } from '../shared/clock.ts'
import type { Log } from '../shared/log.ts'
import {
  GatewayRefusedException,
  GatewayUnavailableException,
  InvalidArgumentException,
  type PaymentError,
} from './exceptions.ts'
import type { Caller } from './gateways/caller.ts'
import type { AnyGateway } from './gateways/gateway.ts'
import type { Ledger } from './ledger/ledger.ts'
import { maskError } from './telling/mask.ts'
import type { Telling } from './telling/telling.ts'

export interface OperationDeps {
  gateways: ReadonlyMap<string, AnyGateway>
  ledger: Ledger
  caller: Caller
  telling: Telling
  clock: Clock
  log: Log
}

export interface OperationContext {
  idempotencyKey?: string
  correlationId?: string
}

/** Longer than a gateway with its retries and its token takes, by some margin. */
export const CALL_PATIENCE_MS = 90_000

/** Half a surrogate pair has no UTF-8: neither the database nor a gateway could take it. */
export const wellFormed = (longest: number) =>
  z
    .string()
    .min(1)
    .max(longest)
    .refine((text) => text.isWellFormed(), 'must be whole characters')

/** A sentence that names every fault of a request. */
export function faultsOf(error: z.ZodError): string {
  const faults = error.issues.map(({ path, message }) => `${path.join('.') || 'body'}: ${message}`)
  return `${faults.join('; ')}.`
}

export const circuitOpen = (gateway: string, retryAfterMs: number): GatewayUnavailableException =>
  new GatewayUnavailableException(`${gateway} is failing and is left alone for now.`, {
    retryAfterMs,
  })

/** For the ledger: what a driver threw. Only a no, or what was never sent, is a refusal. */
export const failedResult = (
  error: unknown,
  nextCheckAt: number,
): { kind: 'refused'; error: PaymentError } | { kind: 'unknown'; nextCheckAt: number } => {
  if (error instanceof GatewayRefusedException) {
    return { kind: 'refused', error: maskError(error.error) }
  }
  if (error instanceof InvalidArgumentException) {
    return { kind: 'refused', error: { code: error.code, message: error.message } }
  }
  return { kind: 'unknown', nextCheckAt }
}

/** For whoever asks the same again: as the first was told. */
export const refusedBefore = (error: PaymentError): Error =>
  error.code === 'invalid_argument'
    ? new InvalidArgumentException(error.message)
    : new GatewayRefusedException(error)

/**
 * For whoever asked, about a payment whose outcome is unknown: a driver that breaks in an
 * unforeseen way leaves that too. `checkedInMs`: then our own check knows more.
 */
export function unknownOutcome(
  error: unknown,
  gateway: string,
  known: { transactionId: string; checkedInMs: number },
): GatewayUnavailableException {
  const { transactionId, checkedInMs } = known
  const said = error instanceof GatewayUnavailableException ? error : undefined
  const message = said?.message ?? `${gateway} answered in a way that was not understood.`
  const retryAfterMs = Math.max(said?.retryAfterMs ?? 0, checkedInMs)
  return new GatewayUnavailableException(message, { transactionId, retryAfterMs, cause: error })
}
