// Which claim a command is about: of which board, of whom, and by which secret.

import { realpath } from 'node:fs/promises'
import { hostname, userInfo } from 'node:os'
import { basename } from 'node:path'
import { BoardError } from '../../libraries/client/types.ts'
import { noBoardIn } from '../../sidecar/layouts/registry.ts'
import { jsonText } from '../../sidecar/log.ts'
import { linkedTreeOf } from '../../sidecar/trees/worktrees.ts'
import { type Context, type Input, noticeTo, UsageError } from '../context.ts'
import { FAILED, NOT_OURS } from '../exit-codes.ts'
import { type OptionsOf, Setting } from '../setting.ts'
import type { BoardAtEdge } from '../wait/edge-board.ts'
import { findTarget, TARGET } from '../wait/target.ts'
import { type AgentProcess, agentAbove, identify } from './agent-process.ts'
import { ClaimRefused, claimsAt } from './claims-at-edge.ts'
import { type KeptClaim, keptClaims } from './kept-claims.ts'

const TAKEN = ['claimed', 'claim_lost', 'already_holding']

/** The options of every command about claims. */
export const CLAIMING = [
  ...TARGET,
  new Setting('--actor <NAME>', 'who works [user@host:PROCESS, else user@host:FOLDER]'),
  new Setting('--pid <N>', 'the process that works; when it ends, so does the claim').whole(
    1,
    2 ** 31,
  ),
] as const

/** The options of commands about a claim that was made before. */
export const HELD = [
  ...CLAIMING,
  new Setting('--claim <CLAIM>', 'the one that claim printed [that of this actor and board]'),
] as const

export interface Claimant {
  edge: BoardAtEdge & { path: string }
  actor: string
  agent: AgentProcess | undefined
  /** The linked worktree in which it is called: what is begun there is its own. */
  tree: string | undefined
}

/** Undefined: there is no running Signalbox with this board; a sentence has said so. */
export async function claimantOf(
  input: Input<OptionsOf<typeof CLAIMING>>,
  context: Context,
): Promise<Claimant | undefined> {
  const notice = noticeTo(context.io)
  const target = await findTarget(input, context, notice, 'agent')
  if (!target) {
    notice(noBoardIn(context.cwd, 'above or below').message)
    return undefined
  }
  const { edge, board } = target
  if (!edge) {
    notice(`A claim needs a running Signalbox, and none runs for ${board}: start it, or use --url.`)
    return undefined
  }
  const { pid, actor } = input.options
  const agent = agentOf(pid)
  const tree = await linkedTreeOf(await realpath(context.cwd))
  const who = agent ? String(agent.pid) : basename(context.cwd)
  return {
    edge: { ...edge, path: edge.path ?? board },
    actor: actor ?? `${userInfo().username}@${hostname()}:${who}`,
    agent,
    tree: tree && basename(tree.gitFolder),
  }
}

function agentOf(pid: number | undefined): AgentProcess | undefined {
  const at = pid ?? agentAbove()
  const agent = at === undefined ? undefined : identify(at)
  if (pid !== undefined && !agent) throw new UsageError(`There is no process ${pid} (--pid).`)
  return agent
}

/** This actor's claim on the board, or the named one. Undefined: none; a sentence has said so. */
export async function ownClaim(
  { edge, actor }: Claimant,
  named: string | undefined,
  { io, env }: Context,
): Promise<(Pick<KeptClaim, 'claim'> & { kept?: KeptClaim }) | undefined> {
  const all = await keptClaims(env, edge.url)
  const kept = all.find((it) =>
    named === undefined ? it.board === edge.path && it.actor === actor : it.claim === named,
  )
  if (named !== undefined) return { claim: named, ...(kept && { kept }) }
  if (kept) return { claim: kept.claim, kept }
  noticeTo(io)(`${actor} holds no claim of ${edge.path}; --claim or --actor names another one.`)
  return undefined
}

/** Prints what it answers, and turns what the edge refuses into an exit code and a sentence. */
export async function told(
  { io }: Context,
  { edge }: Claimant,
  ask: (claims: ReturnType<typeof claimsAt>) => Promise<object>,
): Promise<number> {
  try {
    io.out(`${jsonText(await ask(claimsAt(edge)))}\n`)
    return 0
  } catch (error) {
    if (error instanceof ClaimRefused) {
      const { problem } = error
      io.out(`${jsonText({ type: problem.code, ...problem, board: edge.path })}\n`)
      noticeTo(io)(problem.error)
      return TAKEN.includes(problem.code) ? NOT_OURS : FAILED
    }
    if (!(error instanceof BoardError)) throw error
    noticeTo(io)(error.message)
    return FAILED
  }
}
