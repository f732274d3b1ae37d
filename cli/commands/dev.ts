// Runs Signalbox for the board of a project, in this process. It imports next to nothing, so that
// what the rest compiles to can be kept.

import { join, resolve } from 'node:path'
import { type FoundBoard, findBoard, makeExample, noBoardAbove } from '../../local/find-board.ts'
import type { BoardPlan } from '../../local/one-process/publish.ts'
import { DATA_DIR } from '../../local/options.ts'
import { StartError } from '../../local/start-error.ts'
import { RUN_OUTPUTS } from '../../sidecar/files/file-reader.ts'
import { StoreError } from '../../sidecar/layouts/registry.ts'
import { pathProblem } from '../../worker/shared/repos.ts'
import { type Io, loadConfig, type World } from '../command.ts'
import { keepCompiled } from '../compiled.ts'
import { namedFolder } from '../data-folder.ts'
import { type Settings, UsageError, VERSION } from '../settings.ts'

export async function run(settings: Settings, world: World): Promise<number> {
  const { io, env } = world
  const { dir, ...options } = readDev(settings, world.cwd)
  try {
    const home = await world.loadHome()
    const example = options.isExample ? await makeExample(home.dir, dir) : undefined
    const found = await boardIn(example ?? dir, options.followsLinks)
    const dataDir = options.dataDir ?? join(found.project, DATA_DIR)
    const board = boardPlan(options, found, io)
    // All that is written from here on is for its owner alone.
    process.umask(0o077)
    keepCompiled(env)
    const { dev } = await import('../../local/one-process/dev.ts')
    return await dev({
      ...{ ...options, board, project: found.project, dataDir, home, env },
      file: await loadConfig(settings, world),
      version: VERSION,
      out: io.out,
      notice: (sentence) => io.err(`signalbox: ${sentence}\n`),
    })
  } catch (error) {
    if (!(error instanceof StartError || error instanceof StoreError)) throw error
    throw new UsageError(error.message, { cause: error })
  }
}

export interface DevOptions {
  /** Where the board is looked for, absolute. */
  dir: string
  followsLinks: boolean
  isExample: boolean
  opens: boolean
  port: number | undefined
  /** Absolute; undefined: in the project. */
  dataDir: string | undefined
  trustsData: boolean
  repo: string | undefined
  runOutput: BoardPlan['runOutput']
  isPolling: boolean
}

export function readDev(settings: Settings, cwd: string): DevOptions {
  for (const name of ['data', 'repo', 'port'] as const) {
    if (settings.givenAll(name).at(-1) === '') settings.malformed(`--${name} is empty`)
  }
  const data = settings.given('data')
  const repo = settings.given('repo')
  const problem = repo === undefined ? undefined : pathProblem(repo)
  if (problem !== undefined) {
    settings.malformed(`--repo is not the name of a repository: ${problem.replace(/\.$/, '')}`)
  }
  const options = {
    dir: resolve(cwd, settings.optionalPositional('dev') ?? '.'),
    followsLinks: settings.has('follow-links'),
    isExample: settings.has('example'),
    opens: settings.has('open'),
    port: settings.port('port'),
    dataDir: data === undefined ? undefined : namedFolder(cwd, data),
    trustsData: settings.has('trust-data'),
    repo,
    runOutput: settings.choice('run-output', RUN_OUTPUTS) ?? 'masked',
    isPolling: settings.has('poll'),
  }
  settings.check()
  return options
}

async function boardIn(dir: string, followsLinks: boolean): Promise<FoundBoard> {
  const found = await findBoard(dir, followsLinks)
  if (found) return found
  throw new UsageError(`${noBoardAbove(dir)} signalbox --example makes a board to play with.`)
}

function boardPlan(options: Omit<DevOptions, 'dir'>, found: FoundBoard, io: Io): BoardPlan {
  const repo = options.repo ?? found.project
  const problem = pathProblem(repo)
  if (problem !== undefined) {
    throw new UsageError(`${found.project} cannot name the repository: choose one with --repo.`)
  }
  const { runOutput, isPolling } = options
  const terminal = io.isTerminal && { terminal: io.err }
  return { store: found.store, repo, runOutput, isPolling, ...terminal }
}
