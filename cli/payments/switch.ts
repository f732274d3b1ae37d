// Pauses payments and resumes them, by the edge.

import * as z from 'zod'
import { printable } from '../../worker/shared/printable.ts'
import type { Context } from '../context.ts'
import type { Input } from '../usage.ts'
import { edgeOf, order, type PaymentsOptions } from './target.ts'

const ANSWERS = z.union([
  z
    .object({ since: z.string(), by: z.string() })
    .transform(({ since, by }) => `Payments are paused since ${since}, by ${printable(by)}.`),
  z.object({ resumed: z.literal(true) }).transform(() => 'Payments are not paused.'),
])

export async function switchPayments(
  to: 'pause' | 'resume',
  input: Input<PaymentsOptions>,
  context: Context,
): Promise<number> {
  return await order(context, await edgeOf(input, context), `/payments/${to}`, ANSWERS.parse)
}
