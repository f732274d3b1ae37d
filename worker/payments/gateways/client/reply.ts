// What drivers need to read an answer: nothing of it is believed before it has the expected shape.
// Pure.

import * as z from 'zod'
import { GatewayUnavailableException, type PaymentError } from '../../domain/exceptions.ts'
import type { GatewayReply } from '../gateway.ts'

export const isSuccess = ({ status }: GatewayReply): boolean => status >= 200 && status < 300

/** Not what was asked is refused, but we: it can go on when our credentials are right again. */
export const isBarred = ({ status }: GatewayReply): boolean => status === 401 || status === 403

/**
 * A text that may be left out. Gateways also write null for it, or another type, which must not
 * spoil an answer whose money is right.
 */
export const optionalText = z.string().min(1).optional().catch(undefined)

/** Throws GatewayUnavailableException when something is missing: the outcome is then unknown. */
export function shaped<T>(schema: z.ZodType<T>, value: unknown, what: string): T {
  const read = schema.safeParse(value)
  if (read.success) return read.data
  const where = read.error.issues.map(({ path }) => path.join('.') || 'all of it').join(', ')
  throw new GatewayUnavailableException(`${what} cannot be read: ${where}`)
}

/**
 * The text as a gateway takes it that counts as Java and JavaScript do. Half a pair at the end
 * would be no character.
 */
export const cutTo = (longest: number, text: string): string =>
  text.slice(0, longest).replace(/[\uD800-\uDBFF]$/, '')

/** Answered, and neither done nor plainly refused. */
export const notUnderstood = (what: string, { status }: GatewayReply): Error =>
  new GatewayUnavailableException(`${what} was answered with ${status}`)

/** The gateway's no, under one code that callers can match. */
export const refusal = (
  rawCode: string | undefined,
  message: string | undefined,
): PaymentError => ({
  code: 'gateway_refused',
  ...(rawCode !== undefined && { rawCode }),
  message: message ?? 'The gateway refused.',
})
