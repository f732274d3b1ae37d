// What `signalbox start` does: the whole system on this machine, each part in its own process.
// Wiring, the ways to end, and exit codes.

import { join } from 'node:path'
import { openStore, StoreError } from '../sidecar/layouts/registry.ts'
import { spawnChild } from './child.ts'
import { openDataFolder } from './data-folder.ts'
import { listenForEnd } from './end-requests.ts'
import { type Environment, workerVariables } from './environment.ts'
import { simulatedNames } from './gateways.ts'
import { afterReady, beforeReady, readyLine } from './greeting.ts'
import { removeLocalJson, writeLocalJson } from './local-json.ts'
import type { StartOptions } from './options.ts'
import { openSecret } from './secret.ts'
import { StartError } from './start-error.ts'
import { followStore } from './store-notices.ts'
import { Supervisor } from './supervisor.ts'
import { unrefAfter } from './sweeping.ts'
import { bringUp, type SystemPlan } from './system.ts'
import { signInLink } from './tokens.ts'

export interface StartPlan {
  options: StartOptions
  /** Folder that holds worker/, sidecar/ and examples/. */
  home: string
  env: Environment
  /** Prints text for the person at the terminal; other programs read it too. */
  out(text: string): void
  /** Tells the person one sentence. */
  notice(sentence: string): void
}

/** Resolves with the exit code. Throws StartError; all of it has ended then. */
export async function start(plan: StartPlan): Promise<number> {
  const { options, env, notice } = plan
  const { layout } = await openStore(options.storeDir, options.followsLinks).catch(
    (error: unknown) => {
      if (!(error instanceof StoreError)) throw error
      throw new StartError('bad_store', error.message, { cause: error })
    },
  )
  const place = { ...options, env }
  const data = await openDataFolder(place, options.host, notice)
  const supervisor = new Supervisor({
    spawn: spawnChild,
    now: () => performance.now(),
    after(ms, call) {
      const timer = setTimeout(call, ms)
      return () => clearTimeout(timer)
    },
    notice,
  })
  const asked = new AbortController()
  const requests = { ask: () => asked.abort(), insist: () => supervisor.kill() }
  listenForEnd(requests, env.npm_lifecycle_event)
  try {
    const secret = await openSecret(place, notice)
    return await run({ ...plan, data, secret, supervisor, signal: asked.signal }, layout)
  } finally {
    asked.abort()
    // First of all: a program that finds local.json may connect.
    await removeLocalJson(data.dir)
    await supervisor.stop()
    await data.release()
  }
}

/** Resolves when it ends, with the exit code; what was started may still run then. */
async function run(plan: StartPlan & SystemPlan, layout: string): Promise<number> {
  const { options, home, data, env, supervisor, signal, out, notice } = plan
  const { promise: ended, resolve: end } = Promise.withResolvers<'asked'>()
  signal.addEventListener('abort', () => end('asked'))
  await removeLocalJson(data.dir)
  const first = await Promise.race([bringUp(plan), supervisor.failed, ended])
  if (first === 'asked') return 0
  if ('sentence' in first) throw new StartError('child_failed', first.sentence)

  supervisor.keepAlive()
  await writeLocalJson(data.dir, first)
  const isExample = options.storeDir === join(home, 'examples/board')
  const here = { platform: process.platform, cwd: process.cwd() }
  const link = await signInLink(plan.secret, first, Date.now())
  const { storeDir, dataDir, trustsData, host } = options
  const board = { dir: storeDir, layout }
  const simulated = simulatedNames(workerVariables(env))
  const shown = { board, dataDir, trustsData, host, simulated, isExample }
  const greeting = { ...shown, local: first, link, ...here }
  out(`${beforeReady(greeting)}${readyLine(first.url)}\n${afterReady(greeting)}`)

  await followStore({ logFile: data.logFile('sidecar'), notice, after: unrefAfter, signal })
  const last = await Promise.race([supervisor.failed, ended])
  if (last === 'asked') return 0
  notice(`${last.sentence} Everything is ended.`)
  return 1
}
