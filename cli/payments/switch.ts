// Pauses payments and resumes them, by the edge.

import * as z from 'zod'
import { printable } from '../../worker/shared/printable.ts'
import { type Context, type Input, missing } from '../context.ts'
import { askEdge, failureIn } from '../request.ts'
import { runningStart, systemIn } from '../running-system.ts'
import { EDGE } from '../settings.ts'
import { readTarget, type TargetOptions } from './target.ts'

const ANSWERS = z.union([
  z
    .object({ since: z.string(), by: z.string() })
    .transform(({ since, by }) => `Payments are paused since ${since}, by ${printable(by)}.`),
  z.object({ resumed: z.literal(true) }).transform(() => 'Payments are not paused.'),
])

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
  const asked = { method: 'POST' } as const
  const at = { url: edge, token }
  const done = await askEdge(at, `/payments/${to}`, asked, ANSWERS.parse).catch(failureIn)
  if (typeof done === 'string') {
    io.out(`${done}\n`)
    return 0
  }
  io.err(`signalbox: ${printable(done.failure)}\n`)
  return 1
}
