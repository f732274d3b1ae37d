// Runs the whole system on this machine. It imports next to nothing, so that what the rest compiles
// to can be kept.

import { join, resolve } from 'node:path'
import { DATA_DIR, type Host, type StartOptions } from '../../local/options.ts'
import { StartError } from '../../local/start-error.ts'
import { pathProblem } from '../../worker/shared/repos.ts'
import type { World } from '../command.ts'
import { keepCompiled } from '../compiled.ts'
import { namedFolder } from '../data-folder.ts'
import { type Settings, UsageError } from '../settings.ts'

const HOME = resolve(import.meta.dirname, '../..')
const HOSTS: readonly Host[] = ['workerd', 'deno']
const PORT = 8_787

export async function run(settings: Settings, { io, env }: World): Promise<number> {
  const options = readStart(settings, process.cwd(), HOME)
  // All that is written, by our children too, is for its owner alone.
  process.umask(0o077)
  keepCompiled(env)
  const { start } = await import('../../local/start.ts')
  const notice = (sentence: string) => io.err(`signalbox: ${sentence}\n`)
  try {
    return await start({ options, home: HOME, env, out: io.out, notice })
  } catch (error) {
    if (!(error instanceof StartError)) throw error
    throw new UsageError(error.message, { cause: error })
  }
}

/** `cwd`: what relative folders are relative to; `home`: the folder that holds `examples/`. */
export function readStart(settings: Settings, cwd: string, home: string): StartOptions {
  settings.noPositionals()
  for (const name of ['store', 'data', 'repo', 'port'] as const) {
    if (settings.givenAll(name).at(-1) === '') settings.malformed(`--${name} is empty`)
  }
  const store = settings.given('store')
  const storeDir = store === undefined ? join(home, 'examples/board') : resolve(cwd, store)
  const followsLinks = settings.has('follow-links')
  const repo = settings.given('repo') ?? storeDir
  const problem = pathProblem(repo)
  if (problem !== undefined) {
    settings.malformed(`--repo is not the name of a repository: ${problem.replace(/\.$/, '')}`)
  }
  const port = settings.port('port') ?? PORT
  const data = settings.given('data')
  const dataDir = data === undefined ? join(cwd, DATA_DIR) : namedFolder(cwd, data)
  const trustsData = settings.has('trust-data')
  const host = settings.choice('host', HOSTS) ?? 'workerd'
  settings.check()
  return { storeDir, followsLinks, repo, port, dataDir, trustsData, host }
}
