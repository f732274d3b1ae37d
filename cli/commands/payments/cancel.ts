// Cancels an open payment at its gateway, by the edge.

import * as z from 'zod'
import { printable } from '../../../worker/shared/printable.ts'
import { define } from '../../command.ts'
import { type Context, type Input, missing } from '../../context.ts'
import { readTarget, TARGET, type TargetOptions } from '../../payments/target.ts'
import { askEdge, failureIn } from '../../request.ts'
import { runningStart, systemIn } from '../../running-system.ts'
import { EDGE } from '../../settings.ts'

export const command = define({
  argument: ['ID', 'our id of the payment'],
  usage: 'ID [options]',
  description: `\
Asks the edge at --edge URL, or of the running signalbox, to end an open payment at its gateway, and
prints how it has ended. Exits with 1 if it has not: it was paid, its gateway cannot cancel, or its
end is not known yet. Needs a token with payments:write.`,
  options: TARGET,
  run,
})

const answered = z.object({ reference: z.string(), status: z.string() })

/** The edge asks its gateway three times at most. */
const PATIENCE_MS = 30_000

async function run(input: Input<TargetOptions>, context: Context): Promise<number> {
  const { io, env, cwd } = context
  const [id] = input.arguments
  const here = (await runningStart(input, env)) ?? (await systemIn(cwd, input, env))
  const { edge, token } = await readTarget(input, context, here)
  const needed = { 'ID, our id of the payment': id, [`${EDGE.called} or --data DIR`]: edge }
  const whose = '--token-file FILE, which holds the access token'
  if (!id || !edge || !token) throw missing({ ...needed, [whose]: token })
  const route = `/payments/transactions/${encodeURIComponent(id)}/cancel`
  const asked = { method: 'POST', timeoutMs: PATIENCE_MS } as const
  const done = await askEdge({ url: edge, token }, route, asked, answered.parse).catch(failureIn)
  if ('failure' in done) {
    io.err(`signalbox: ${printable(done.failure)}\n`)
    return 1
  }
  io.out(`${printable(done.reference)} is ${done.status}.\n`)
  return 0
}
