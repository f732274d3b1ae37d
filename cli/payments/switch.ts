// Pauses payments and resumes them, by the edge.

import * as z from 'zod'
import { printable } from '../../worker/shared/printable.ts'
import { type Context, type Input, missing } from '../context.ts'
import { runningStart, systemIn } from '../running-system.ts'
import { EDGE } from '../settings.ts'
import { ask } from './ask.ts'
import { readTarget, type TargetOptions } from './target.ts'

const ANSWERS = z.union([
  z
    .object({ since: z.string(), by: z.string() })
    .transform(({ since, by }) => `Payments are paused since ${since}, by ${printable(by)}.`),
  z.object({ resumed: z.literal(true) }).transform(() => 'Payments are not paused.'),
])
const REFUSED = z.object({ error: z.string() })

export async function switchPayments(
  to: 'pause' | 'resume',
  input: Input<TargetOptions>,
  context: Context,
): Promise<number> {
  const { io, env, cwd } = context
  const here = (await runningStart(input, env)) ?? (await systemIn(cwd, input, env))
  const { edge, token } = await readTarget(input, context, here)
  if (!edge || !token) {
    const needed = { [`${EDGE.called} or --data DIR`]: edge }
    throw missing({ ...needed, '--token-file FILE, which holds the access token': token })
  }
  const headers = { authorization: `Bearer ${token}` }
  const answer = await ask(`${edge}/api/payments/${to}`, { method: 'POST', headers })
  if (!answer.ok) {
    io.err(`signalbox: No answer from ${edge}: ${answer.why}.\n`)
    return 1
  }
  const body: unknown = JSON.parse(answer.text || '{}')
  const done = answer.status === 200 ? ANSWERS.safeParse(body).data : undefined
  if (done !== undefined) {
    io.out(`${done}\n`)
    return 0
  }
  const why = REFUSED.safeParse(body).data?.error
  io.err(`signalbox: ${printable(why || `The edge answered ${answer.status}.`)}\n`)
  return 1
}
