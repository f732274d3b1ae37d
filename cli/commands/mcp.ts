// MCP over standard input and output, for an agent on this machine.

import { serveMcp } from '../../libraries/mcp/stdio.ts'
import { aborted } from '../../system/run-in.ts'
import { agentAbove } from '../claim/agent-process.ts'
import { CLAIMING, claimantOf } from '../claim/claimant.ts'
import { stdioCaller } from '../claim/stdio-caller.ts'
import { define } from '../command.ts'
import { VERSION } from '../context.ts'
import { FAILED } from '../exit-codes.ts'
import { noticeTo } from '../terminal.ts'

export const command = define({
  usage: '[--board NAME] [--actor NAME] [options]',
  description: `\
Speaks the Model Context Protocol on standard input and output, for an agent that starts it: tools
that read the board, claim, renew and release its tasks, and wait for changes. It needs a running
Signalbox, which may start later. Each agent that claims names itself, and its claims are those of
--actor/NAME. They are renewed while the process of --pid runs (by default the nearest agent above,
else this one), and given back when standard input ends.`,
  options: CLAIMING,
  async run(input, context) {
    const { io, env } = context
    const notice = noticeTo(io)
    const self = agentAbove() ?? process.pid
    const find = () => claimantOf(input, context, { self, notice })
    const claimant = await find()
    if (!claimant) return FAILED
    const onError = (error: unknown) => notice(String(error))
    const caller = stdioCaller(claimant, find, { env, onError })
    const served = serveMcp(caller, VERSION)
    const asked = io.shutdownSignal({ withParent: true })
    await aborted(asked)
    await served.close()
    await caller.end()
    return 0
  },
})
