// Runs the edge on a server of one's own, in this process. It imports next to nothing, so that what
// the rest compiles to can be kept.

import { resolve } from 'node:path'
import type { BoardPlan } from '../../local/one-process/publish.ts'
import { DATA_DIR } from '../../local/options.ts'
import { StartError } from '../../local/start-error.ts'
import { RUN_OUTPUTS } from '../../sidecar/files/file-reader.ts'
import { createLog } from '../../sidecar/log.ts'
import { pathProblem } from '../../worker/shared/repos.ts'
import { loadConfig, type World } from '../command.ts'
import { keepCompiled } from '../compiled.ts'
import { namedFolder } from '../data-folder.ts'
import { type Environment, type Settings, UsageError, VERSION } from '../settings.ts'
import { LOG_FORMATS, storeIn } from './publish-settings.ts'

export async function run(settings: Settings, world: World): Promise<number> {
  const { io } = world
  const board = readBoard(settings)
  const port = settings.port('port')
  const format = settings.choice('log', LOG_FORMATS) ?? (io.isTerminal ? 'pretty' : 'json')
  settings.check()
  const read = async (): Promise<Environment> => ({
    ...world.env,
    ...(await settings.variables()),
    ...(port !== undefined && { PORT: String(port) }),
  })
  const env = await read()
  const named = settings.given('data') || env.DATA_DIR
  const dataDir = named ? namedFolder('.', named) : resolve(DATA_DIR)
  // All that is written is for its owner alone.
  process.umask(0o077)
  keepCompiled(world.env)
  const { serve } = await import('../../local/one-process/serve.ts')
  try {
    return await serve({
      board: board && { ...board, store: await storeIn(board.dir, board.followsLinks) },
      ...{ dataDir, env, version: VERSION, out: io.out },
      ...(settings.given('env') !== undefined && { reread: read }),
      home: await world.loadHome(),
      file: await loadConfig(settings, world),
      log: createLog(format, io.err, settings.has('verbose') ? 'debug' : 'info'),
      notice: (sentence) => io.err(`signalbox: ${sentence}\n`),
    })
  } catch (error) {
    if (!(error instanceof StartError)) throw error
    throw new UsageError(error.message, { cause: error })
  }
}

type ServedBoard = Omit<BoardPlan, 'store'> & { dir: string; followsLinks: boolean }

/** Undefined: sidecars elsewhere publish. */
function readBoard(settings: Settings): ServedBoard | undefined {
  const dir = settings.optionalPositional('serve')
  const runOutput = settings.choice('run-output', RUN_OUTPUTS) ?? 'masked'
  if (dir === undefined) {
    const ofTheBoard = ['repo', 'follow-links', 'poll', 'run-output', 'log', 'verbose'] as const
    settings.needless(ofTheBoard, 'without DIR')
    return undefined
  }
  const repo = settings.required('repo')
  const problem = repo === '' ? undefined : pathProblem(repo)
  if (problem !== undefined) {
    settings.malformed(`--repo is not the name of a repository: ${problem.replace(/\.$/, '')}`)
  }
  const followsLinks = settings.has('follow-links')
  return { dir: resolve(dir), followsLinks, repo, runOutput, isPolling: settings.has('poll') }
}
