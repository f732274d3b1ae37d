// One agent, one task: claims a task of a running Signalbox, or the next that is free.

import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Claimed } from '../../libraries/api/types.ts'
import { jsonText } from '../../sidecar/log.ts'
import { ClaimRefused, claimsAt } from '../claim/claims-at-edge.ts'
import { forgetClaim, type KeptClaim, keepClaim, keptClaims } from '../claim/kept-claims.ts'
import { CLAIMING, type Claimant, claimantOf, told } from '../claim/own-claim.ts'
import { turnAmong } from '../claim/turn.ts'
import { define } from '../command.ts'
import type { Context, Environment, Input } from '../context.ts'
import { FAILED, TIMED_OUT } from '../exit-codes.ts'
import { type OptionsOf, Setting } from '../setting.ts'
import { CLAIMED_FOR } from '../settings.ts'
import { edgeBoard } from '../wait/edge-board.ts'

const TTL_MS = 600_000

const OPTIONS = [
  new Setting('--task <ID>', 'this task [the next that is free]'),
  new Setting('--label <L>', 'only a task with this label'),
  new Setting('--parent <ID>', 'only a task with this parent'),
  new Setting('--assignee <NAME>', 'tasks of this person are free, too'),
  new Setting('--wait <TIME>', 'wait until there is one, at most so long').duration(),
  CLAIMED_FOR,
  new Setting('--max <N>', 'how many claims the actor may hold here, with this one').whole(1, 16),
  new Setting('--force', 'also a task that is not ready'),
  ...CLAIMING,
] as const

type ClaimOptions = OptionsOf<typeof OPTIONS>

export const command = define({
  usage: '[--task ID] [--label L] [--parent ID] [--wait TIME] [--actor NAME] [options]',
  description: `\
Takes a task that nobody else can take as well, and prints one line of JSON: type, task, title,
generation, expiresAt, board and claim. Without --task it is the next: the most urgent, then by
rank, then by id. Nothing is written into the board's files: mark the task there with the tool's
own means. Called again by the same actor, it answers with the task that the actor holds already.

A running Signalbox of this user renews the claim while the process of --pid runs, and ends it 5 s
after that has ended: by default the nearest agent above (claude, codex, opencode, gemini, aider,
cursor-agent, and others); a shell loop says --pid $$. Else renew it before --ttl is over.

Exit code 3: no task was free in the time of --wait. Exit code 4: it is somebody else's. It needs a
running Signalbox: that of the project, or of --url with a token that has board:work.`,
  options: OPTIONS,
  run,
})

async function run(input: Input<ClaimOptions>, context: Context): Promise<number> {
  const claimant = await claimantOf(input, context)
  if (!claimant) return FAILED
  const { wait } = input.options
  const end = new AbortController()
  const limits = [
    end.signal,
    context.io.shutdownSignal(),
    ...(wait ? [AbortSignal.timeout(wait)] : []),
  ]
  const signal = AbortSignal.any(limits)
  const once = () => claimOnce(input.options, claimant, context.env)
  try {
    return await told(context, claimant, async () => {
      const { task, claim, ...claimed } = await (wait
        ? whenFree(once, claimant, context, signal)
        : once())
      return { type: 'claimed', task: task.id, title: task.title, ...claimed, claim }
    })
  } catch (error) {
    const isOver = error instanceof NothingFree || signal.aborted
    if (!isOver) throw error
    context.io.out(`${jsonText({ type: 'timeout', board: claimant.edge.path })}\n`)
    return TIMED_OUT
  } finally {
    end.abort()
  }
}

/** No task was free in time. */
class NothingFree extends Error {}

type Given = Claimed & { claim: string }

/** What was released as done, and is still open, is free after a minute without a message. */
const ASK_AGAIN_MS = 60_000
/** What a change of the board, or the end of another claim, may make free. */
const MAY_PASS = ['claimed', 'not_ready']

/** Throws NothingFree when the signal comes first. */
async function whenFree(
  once: () => Promise<Given>,
  { edge }: Claimant,
  { env }: Context,
  signal: AbortSignal,
): Promise<Given> {
  const turn = await turnAmong(env, edge)
  const changes = changesOf(edge, signal)
  try {
    // The stream opens first: it then reports what becomes free while we ask.
    for (let next = changes.next(); !signal.aborted; ) {
      const step = await Promise.race([
        next,
        sleep(ASK_AGAIN_MS, undefined, { signal, ref: false }),
      ])
      if (step?.done) break
      if (step) next = changes.next()
      const id = step?.value
      if (id !== undefined) await turn.mine(id, signal)
      try {
        return await once()
      } catch (error) {
        const mayPass = error instanceof ClaimRefused && MAY_PASS.includes(error.problem.code)
        if (!mayPass && !(error instanceof NothingFree)) throw error
      }
      if (id !== undefined) await turn.asked(id)
    }
    throw new NothingFree()
  } finally {
    await turn.leave()
  }
}

/** The id of each message of the board, sessions included. Ends with the signal. */
async function* changesOf(edge: Claimant['edge'], signal: AbortSignal): AsyncGenerator<string> {
  const { steps } = edgeBoard(edge, undefined, signal)
  try {
    for await (const { id } of steps) yield id
  } catch (error) {
    if (!signal.aborted) throw error
  }
}

/** Throws ClaimRefused, or NothingFree. */
async function claimOnce(
  options: ClaimOptions,
  claimant: Claimant,
  env: Environment,
): Promise<Given> {
  const { task, label, parent, assignee, ttl, max, force } = options
  const { edge, actor, agent, tree } = claimant
  const held = (await keptClaims(env, edge.url)).filter(
    (kept) => kept.actor === actor && kept.board === edge.path,
  )
  const [own] = max === undefined ? held : []
  const kept: KeptClaim = {
    claim: own?.claim ?? randomBytes(16).toString('base64url'),
    actor,
    board: edge.path,
    url: edge.url,
    ttlMs: ttl ?? TTL_MS,
    task: own?.task ?? '',
    generation: own?.generation ?? 0,
    ...(agent && { process: agent }),
  }
  // Before it is asked for: one whose answer is lost is asked for again, and is the same.
  await keepClaim(env, kept)
  try {
    const given = await claimsAt(edge).claim({
      claim: kept.claim,
      actor,
      ttlMs: kept.ttlMs,
      ...(task !== undefined && { task }),
      ...(label !== undefined && { label }),
      ...(parent !== undefined && { parent }),
      ...(assignee !== undefined && { assignee }),
      ...(tree !== undefined && { tree }),
      ...(max !== undefined && { max }),
      ...(force && { force }),
    })
    await keepClaim(env, { ...kept, task: given.task.id, generation: given.generation })
    return { ...given, claim: kept.claim }
  } catch (error) {
    if (!(error instanceof ClaimRefused)) throw error
    await forgetClaim(env, kept)
    if (error.problem.code === 'nothing_ready') throw new NothingFree()
    // That of before has ended: this is a new one.
    if (own && error.problem.code === 'claim_lost') {
      return await claimOnce(options, claimant, env)
    }
    throw error
  }
}
