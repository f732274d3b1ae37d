// What `npm start` does: the whole system on this machine, each part a process of its own. Wiring,
// the ways to end, and exit codes.

import { join } from 'node:path'
import { openStore, StoreError } from '../sidecar/layouts/registry.ts'
import { spawnChild } from './child.ts'
import { openDataFolder } from './data-folder.ts'
import { listenForEnd } from './end-requests.ts'
import { afterReady, beforeReady, readyLine } from './greeting.ts'
import { removeLocalJson, writeLocalJson } from './local-json.ts'
import { HELP, type ParsedOptions, type StartOptions } from './options.ts'
import { signInLink } from './sign-in-link.ts'
import { StartError } from './start-error.ts'
import { followStore } from './store-notices.ts'
import { Supervisor } from './supervisor.ts'
import { unrefAfter } from './sweeping.ts'
import { bringUp, type SystemPlan } from './system.ts'
import { readSecret } from './tokens.ts'

const say = (text: string) => void process.stdout.write(text)
const notice = (sentence: string) => void process.stderr.write(`signalbox: ${sentence}\n`)

/** Resolves with the exit code. `home`: the folder that holds worker/, sidecar/ and examples/. */
export async function main(parsed: ParsedOptions, home: string): Promise<number> {
  // A reader that went away (`npm start | head`) is no reason to leave everything unfinished.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => stream.destroy())
  if (parsed.kind === 'help') {
    say(HELP)
    return 0
  }
  try {
    if (parsed.kind === 'refused') throw new StartError('bad_options', parsed.sentence)
    return await start(parsed.options, home)
  } catch (error) {
    if (!(error instanceof StartError || error instanceof StoreError)) throw error
    notice(error.message)
    return 2
  }
}

async function start(options: StartOptions, home: string): Promise<number> {
  const { layout } = await openStore(options.storeDir)
  const data = await openDataFolder(options.dataDir, options.host, notice)
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
  listenForEnd(requests, process.env.npm_lifecycle_event)
  try {
    return await run(
      { options, home, data, env: process.env, supervisor, signal: asked.signal },
      layout,
    )
  } finally {
    asked.abort()
    // First of all: who finds local.json may connect.
    await removeLocalJson(data.dir)
    await supervisor.stop()
    await data.release()
  }
}

/** Resolves when it ends, with the exit code; what was started may still run then. */
async function run(plan: SystemPlan, layout: string): Promise<number> {
  const { options, home, data, supervisor, signal } = plan
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
  const link = await signInLink(await readSecret(data.secretFile), first, Date.now())
  const greeting = { options, layout, local: first, link, isExample, ...here }
  say(`${beforeReady(greeting)}${readyLine(first.url)}\n${afterReady(greeting)}`)

  await followStore({ logFile: data.logFile('sidecar'), notice, after: unrefAfter, signal })
  const last = await Promise.race([supervisor.failed, ended])
  if (last === 'asked') return 0
  notice(`${last.sentence} Everything is ended.`)
  return 1
}
