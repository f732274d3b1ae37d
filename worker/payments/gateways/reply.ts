// Helps drivers to address a gateway and to read its reply, whose values are used only after its
// shape was checked. Pure.

import { GatewayUnavailableException, type PaymentError } from '../domain/exceptions.ts'
import type { CredentialReads, GatewayReply } from './gateway.ts'

/** 2^53 has 16 digits: only then is the slow way needed. */
const HAS_LONG_NUMBER = /\d{16}|\de\+?\d/i

/**
 * An integer that a number cannot hold becomes its text: two ids that differ in the last digit
 * would be one. Throws SyntaxError.
 */
export const parseJson = (text: string): unknown =>
  HAS_LONG_NUMBER.test(text) ? JSON.parse(text, keepLongNumbers) : JSON.parse(text)

const keepLongNumbers = (_: string, value: unknown, context?: { source?: string }): unknown =>
  Number.isInteger(value) && !Number.isSafeInteger(value) ? context?.source : value

/** A `base_url` that a path can follow. */
export const withoutSlash = (url: string): string => url.replace(/(?<!\/)\/+$/, '')

/** What this key must be allowed to read: one of each list. `paths`: by what is read. */
export const readsOf = (
  base_url: string,
  key: string,
  paths: Readonly<Record<string, string>>,
): CredentialReads['requests'] =>
  Object.fromEntries(
    Object.entries(paths).map(([what, path]) => {
      const url = `${withoutSlash(base_url)}${path}?limit=1`
      return [what, { url, headers: { authorization: `Bearer ${key}` } }]
    }),
  )

export const isSuccess = ({ status }: GatewayReply): boolean => status >= 200 && status < 300

/** Our credentials are refused, not the request: it can be repeated once they are correct. */
export const isAuthFailure = ({ status }: GatewayReply): boolean => status === 401 || status === 403

/** What is used of a zod schema, so that an operator's driver may have another version of zod. */
export interface ReplySchema<T> {
  safeParse(
    value: unknown,
  ): { success: true; data: T } | { success: false; error: { issues: readonly ReplyIssue[] } }
}

interface ReplyIssue {
  readonly path: readonly PropertyKey[]
}

/** Throws GatewayUnavailableException when something is missing: the outcome is then unknown. */
export function parseReply<T>(schema: ReplySchema<T>, value: unknown, name: string): T {
  const read = schema.safeParse(value)
  if (read.success) return read.data
  const where = unreadableParts(read.error, 'the whole reply')
  const message = `${name} cannot be read: ${where}`
  throw new GatewayUnavailableException(message, { unreadable: where })
}

/** The paths of what cannot be read. Never its values, which may be personal data. */
export const unreadableParts = (
  { issues }: { issues: readonly ReplyIssue[] },
  whole = 'the whole object',
): string => issues.map(({ path }) => path.join('.') || whole).join(', ')

/**
 * Cuts a text for gateways that count UTF-16 units, as Java and JavaScript do. Half of a surrogate
 * pair at the end is removed: it is not a valid character.
 */
export const truncate = (maxUnits: number, text: string): string =>
  text.slice(0, maxUnits).replace(/[\uD800-\uDBFF]$/, '')

/** The reply is neither a success nor a clear refusal. */
export const unexpectedReply = (name: string, { status, authError }: GatewayReply): Error => {
  const why = authError === undefined ? '' : ` (${authError})`
  return new GatewayUnavailableException(`${name} was answered with ${status}${why}`)
}

/** A refusal by the gateway, with one code that callers can match. */
export const refusal = (rawCode: string | undefined, message: string | undefined): PaymentError =>
  coded('gateway_refused', rawCode, message ?? 'The gateway refused.')

/** An error with the gateway's own code, if it gave one. */
export const coded = (
  code: string,
  rawCode: string | undefined,
  message: string,
): PaymentError => ({ code, ...(rawCode !== undefined && { rawCode }), message })

/** Of a refund. */
export const REFUND_CANCELLED: PaymentError = {
  code: 'refund_cancelled',
  message: 'The refund was cancelled.',
}
