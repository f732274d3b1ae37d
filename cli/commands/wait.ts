// Waits for a change of a board, or for a task, and prints one line of JSON: for agents, which
// would look again and again.

import { claimsOf } from '../../libraries/client/edge.ts'
import { BoardError } from '../../libraries/client/types.ts'
import { isRunning } from '../../local/data-folder.ts'
import { findBoard, noBoardAbove } from '../../local/find-board.ts'
import {
  type Context,
  type Input,
  missing,
  refuseNeedless,
  tokenSource,
  UsageError,
} from '../command.ts'
import { type RunningOptions, readDataFolder, runningAbove } from '../data-folder.ts'
import { TOKEN_FILE } from '../setting.ts'
import { type EdgePlace, edgeBoard } from '../wait/edge-board.ts'
import { filesBoard } from '../wait/files-board.ts'
import { type Until, type WatchedBoard, waitFor } from '../wait/wait-for.ts'

interface WaitOptions extends RunningOptions {
  board?: string
  task?: string
  until: string
  since?: string
  /** In ms. */
  timeout: number
  url?: URL
  tokenFile?: string
}

const FAILED = 1
const TIMED_OUT = 3
/** The longest that a timer can wait. */
const MAX_TIMER_MS = 2 ** 31 - 1
/** An event id, or a place in files. */
const PLACE = /^[0-9a-z]{1,32}-[0-9a-f]{1,32}$/

type Open = (since: string | undefined, signal: AbortSignal) => WatchedBoard

export async function run(input: Input<WaitOptions>, context: Context): Promise<number> {
  const { io } = context
  const { task, since, timeout } = input.options
  const until = readUntil(input.options.until)
  if (since !== undefined && !PLACE.test(since)) {
    throw new UsageError(`--since must be the id of a line before, not "${since}".`)
  }
  const place = await findPlace(input, context)
  if (!place) {
    io.err(`signalbox: ${noBoardAbove(context.cwd)}\n`)
    return FAILED
  }
  const { board } = place
  const asked = io.ended()
  const end = new AbortController()
  const signal = AbortSignal.any([asked, end.signal])
  let isOver = false
  const timer = setTimeout(
    () => {
      isOver = true
      end.abort()
    },
    Math.min(timeout, MAX_TIMER_MS),
  )
  const print = (line: object) => io.out(`${JSON.stringify(line)}\n`)
  let reached: string | undefined
  try {
    const watched = place.open(since, signal)
    const { row, ...outcome } = await waitFor(watched, { task, until, since }, (id) => {
      reached = id
    })
    print({ ...outcome, status: row?.status, title: row?.title, board })
    return 0
  } catch (error) {
    if (isOver && reached !== undefined) {
      print({ id: reached, type: 'timeout', ...(task !== undefined && { task }), board })
      return TIMED_OUT
    }
    const why = isOver
      ? 'The board could not be read in the time of --timeout.'
      : asked.aborted
        ? `It was ended by ${asked.reason}.`
        : error instanceof BoardError && error.message
    if (!why) throw error
    io.err(`signalbox: ${why}\n`)
    return FAILED
  } finally {
    clearTimeout(timer)
    end.abort()
  }
}

function readUntil(text: string): Until {
  if (text === 'any' || text === 'ready') return { kind: text }
  const [, status] = /^status=(.*\S)/.exec(text) ?? []
  if (status !== undefined) return { kind: 'status', status }
  throw new UsageError(`--until must be any, ready or status=X, not "${text}".`)
}

/** The named Signalbox, else the one that runs here, else the files; undefined: no board. */
async function findPlace(
  input: Input<WaitOptions>,
  { env, cwd }: Context,
): Promise<{ board: string; open: Open } | undefined> {
  const { options } = input
  const { url, board: name } = options
  if (url) {
    refuseNeedless(input, ['--data', '--trust-data'], 'with --url')
    const token = tokenSource(input, env)
    if (!token) throw missing({ [TOKEN_FILE.meaning]: token })
    const covered = claimsOf(await token().catch(() => undefined)).repos
    const [only] = Array.isArray(covered) && covered.length === 1 ? covered : []
    return atEdge({ url: url.href.replace(/\/+$/, ''), path: name ?? only, token })
  }
  refuseNeedless(input, ['--token-file'], 'without --url')
  const dir = options.data ?? runningAbove(cwd)
  if (dir !== undefined && (options.data !== undefined || (await isRunning(dir)))) {
    const { local } = await readDataFolder(dir, options, env)
    const { board: token } = local.tokens
    if (token === undefined) return undefined
    const path = local.path === '*' && name !== undefined ? name : named([local.path], name)
    return atEdge({ url: local.url, path, token: async () => token })
  }
  const found = await findBoard(cwd)
  if (!found) return undefined
  const board = named([found.dir], name)
  return { board, open: (since, signal) => filesBoard(found.store, since, signal) }
}

const atEdge = (place: EdgePlace) => ({
  board: place.path ?? '',
  open: (since: string | undefined, signal: AbortSignal) => edgeBoard(place, since, signal),
})

/** The board of this name, or of this last part of it where that is only one. */
function named(boards: readonly string[], name: string | undefined): string {
  const last = (board: string) => board.replace(/^.*[\\/]/, '')
  const exact = boards.filter((board) => board === name)
  const matching =
    exact.length > 0 ? exact : boards.filter((it) => name === undefined || last(it) === name)
  const [board] = matching
  if (board !== undefined && matching.length === 1) return board
  const wanted = name === undefined ? 'There are several boards' : `There is no board ${name}`
  throw new UsageError(`${wanted}: choose one with --board: ${boards.join(', ')}.`)
}
