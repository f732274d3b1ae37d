// Runs a command that works on a claimed task, and holds the claim for as long as it runs: what a
// running Signalbox does for the agents of its machine, also for one elsewhere.

import { type ChildProcess, spawn } from 'node:child_process'
import { constants } from 'node:os'
import { resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { errorCode } from '../../worker/shared/file-errors.ts'
import type { Context, Environment } from '../context.ts'
import { NOT_OURS } from '../exit-codes.ts'
import { noticeTo } from '../terminal.ts'
import { claimsAt, isCode } from './claims-at-edge.ts'
import { giveBack } from './give-back.ts'
import { forgetClaim, keptClaims } from './kept-claims.ts'
import { Signs } from './signs.ts'
import type { Taken } from './take-task.ts'
import { OVER, renewAfter } from './watch-claims.ts'

const PASSED_ON = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2'] as const
/** Of those that ask a process to end. */
const ENDS: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT']

/** As shells have it: there is no such program, or it cannot be run. */
const [NOT_FOUND, NOT_RUN, BY_SIGNAL] = [127, 126, 128]

export interface PassingOn {
  /** Aborted when we are to end, and nothing runs yet. */
  asked: AbortSignal
  /** From now on signals are for this one. */
  to(child: ChildProcess): void
}

/** Takes the signals of this process. */
export function passingOn(): PassingOn {
  const asked = new AbortController()
  let child: ChildProcess | undefined
  for (const signal of PASSED_ON) {
    process.on(signal, () => {
      // A terminal gives Ctrl-C to all of its processes: twice would mean something else.
      const hasItAlready = process.stdin.isTTY && (signal === 'SIGINT' || signal === 'SIGQUIT')
      if (child && !hasItAlready) child.kill(signal)
      if (!child && ENDS.includes(signal)) asked.abort(signal)
    })
  }
  return {
    asked: asked.signal,
    to: (it) => {
      child = it
      // It came while the claim was made.
      if (asked.signal.aborted) child.kill(asked.signal.reason as NodeJS.Signals)
    },
  }
}

interface Run extends Taken {
  to: PassingOn['to']
  context: Pick<Context, 'io' | 'env' | 'cwd'>
  ttlMs: number
  /** The file of --token-file. */
  tokenFile: string | undefined
}

/** Resolves with the exit code: that of the command, or that the claim was lost. */
export async function runCommand([program = '', ...args]: readonly string[], run: Run) {
  const { context, claimant, given, to, ttlMs } = run
  const { io, env, cwd } = context
  const { claim } = given
  const claims = claimsAt(claimant.place.edge)
  const over = new AbortController()
  const child = spawn(program, args, { cwd, env: environmentOf(run), stdio: 'inherit' })
  to(child)
  const holding = hold()
  const ended = await endOf(child)
  over.abort()
  const isLost = await holding
  if ('why' in ended) noticeTo(io)(`${program} cannot be run (${ended.why}).`)
  const kept = (await keptClaims(env)).find((it) => it.claim === claim)
  if (isLost) {
    noticeTo(io)(`The claim of ${given.task.id} is lost: ${program} was ended.`)
    if (kept) await forgetClaim(env, kept)
    return NOT_OURS
  }
  // What the command released itself is kept no longer, or is waiting to be passed on.
  if (!kept || kept.release) return ended.code
  const outcome = ended.code === 0 ? 'done' : 'abandoned'
  const code = await giveBack({ claim, kept }, { outcome }, claimant, context)
  return code === NOT_OURS ? code : ended.code

  /** Renews until it has ended. Resolves with whether the claim was lost. */
  async function hold(): Promise<boolean> {
    const signs = new Signs()
    const worker = { claim, pid: child.pid ?? process.pid, gitFolder: claimant.gitFolder }
    for (;;) {
      const isOver = await sleep(renewAfter(ttlMs), false, { signal: over.signal }).catch(
        () => true,
      )
      if (isOver) return false
      try {
        const sign = await signs.last(worker, Date.now())
        const { end, returning } = await claims.renew({ claim, ...sign })
        // What else has ended it is the work of the command.
        if (end?.outcome !== 'deleted' || returning) continue
      } catch (error) {
        if (!isCode(error, ...OVER)) continue
      }
      child.kill('SIGTERM')
      return true
    }
  }
}

type Ended = { code: number } | { code: number; why: string }

const endOf = (child: ChildProcess): Promise<Ended> =>
  new Promise((resolve) => {
    child.once('error', (error) => {
      const code = errorCode(error)
      resolve({ code: code === 'ENOENT' ? NOT_FOUND : NOT_RUN, why: code || error.message })
    })
    child.once('exit', (code, signal) => {
      resolve({ code: code ?? BY_SIGNAL + (signal ? constants.signals[signal] : 0) })
    })
  })

function environmentOf({ given, context, tokenFile }: Run): Environment {
  const { id, title, file } = given.task
  return {
    ...context.env,
    SIGNALBOX_TASK: id,
    // A variable ends at such a character.
    SIGNALBOX_TITLE: title.replaceAll('\0', ''),
    SIGNALBOX_FILE: file,
    SIGNALBOX_CLAIM: given.claim,
    // Inside, `check` asks with the token that we have.
    ...(tokenFile !== undefined && {
      SIGNALBOX_TOKEN_FILE: resolve(context.cwd, tokenFile),
      SIGNALBOX_TOKEN: undefined,
    }),
  }
}
