// Which board a command is about: of the Signalbox that was named, else of the one that runs here,
// else among the files.

import { realpath } from 'node:fs/promises'
import { isAbsolute } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { claimsOf } from '../../libraries/client/requests.ts'
import { type Bounds, discoverBoards } from '../../sidecar/boards/discover.ts'
import { type NamedBoard, nameBoards } from '../../sidecar/boards/names.ts'
import { leadingFolder, locationOf } from '../../sidecar/git/worktrees.ts'
import type { StoreError } from '../../sidecar/layouts/registry.ts'
import { isWithin } from '../../sidecar/layouts/store-folder.ts'
import { isRunning } from '../../system/data/lock.ts'
import { boardsAbove, findProject } from '../../system/find-board.ts'
import { coversPath, exactPaths, onlyPath } from '../../worker/shared/repos.ts'
import { readToken, tokenSource } from '../access-token.ts'
import type { Context, Environment } from '../context.ts'
import { addressOf } from '../request.ts'
import { readDataFolder, runningAbove } from '../running-system.ts'
import { type OptionsOf, Setting } from '../setting.ts'
import { RUNNING, TOKEN_FILE } from '../settings.ts'
import { type Input, missing, refuseNeedless, UsageError } from '../usage.ts'
import { type BoardAtEdge, boardNames, edgeBoard } from './edge-board.ts'
import type { WatchedBoard } from './watched-board.ts'

/** Which Signalbox is asked: one elsewhere, or the one that runs here. */
export const SIGNALBOX = [
  new Setting('--url <URL>', 'address of a Signalbox elsewhere').url(),
  TOKEN_FILE,
  ...RUNNING,
] as const

/** Which board is waited for. */
export const TARGET = [
  new Setting('--board <NAME>', "the board's name or the end of it [that of this folder]"),
  ...SIGNALBOX,
] as const

export type TargetOptions = OptionsOf<typeof TARGET>

export interface FoundEdge extends BoardAtEdge {
  /** Where that is: the data folder of a running Signalbox (`isDataFolder`), or a URL. */
  at: string
}

export interface Target {
  /** Its name. */
  board: string
  /** Absent: it is read from files alone. */
  edge?: FoundEdge
  /** The folder of its project in the tree that leads. Absent: it is not known. */
  dir?: string | undefined
  open(since: string | undefined, signal: AbortSignal, onAway: () => unknown): WatchedBoard
}

export const isDataFolder = (at: string): boolean => isAbsolute(at)

/**
 * Undefined: there is no board. `as`: what the token of a running Signalbox is for. Throws
 * UsageError where it is not clear which board is meant.
 */
export async function findTarget(
  input: Input<TargetOptions>,
  { env, cwd }: Context,
  notice: (sentence: string) => void,
  as: 'board' | 'agent' = 'board',
): Promise<Target | undefined> {
  const { options } = input
  const { url, board: name } = options
  if (url) {
    const edge = await edgeAt(url, input, env)
    const covered = claimsOf(await edge.token()).repos
    const repos = Array.isArray(covered) ? covered.map(String) : []
    const path = name === undefined ? onlyPath(repos) : await wholeName(edge, name, repos)
    return atEdge({ ...edge, path, at: edge.url })
  }
  refuseNeedless(input, ['--token-file'], 'without --url')
  const folder = await realpath(cwd).catch(() => cwd)
  const here = await leadingFolder(folder)
  const dir = options.data ?? (await runningAbove(cwd))
  if (dir === undefined || (options.data === undefined && !(await isRunning(dir)))) {
    return await inFiles(here, name, env.PATH ?? '', notice)
  }
  const { local } = await readDataFolder(dir, options, env)
  const { [as]: token } = local.tokens
  if (token === undefined) return undefined
  const boards = local.boards.map((board) => ({ ...board, name: board.path }))
  // Without one of its own, sidecars elsewhere publish to it.
  const chosen = boards.length === 0 ? undefined : choose(boards, name, here, notice)
  const path = chosen?.name ?? name
  if (path === undefined) throw missing({ '--board NAME, the name of the board': path })
  const own = name === undefined ? await findProject(here) : undefined
  if (own !== undefined && !boards.some(({ dir }) => dir === own)) {
    notice(`The board is ${path}: the one in ${own} is not of the running Signalbox.`)
  }
  const edge = { url: local.url, path, token: async () => token, at: await realpath(dir) }
  return atEdge(edge, chosen?.dir)
}

/** The Signalbox that --url names, with the token that was given. Throws UsageError. */
export async function edgeAt(
  url: URL,
  input: Input<OptionsOf<typeof SIGNALBOX>>,
  env: Environment,
): Promise<Omit<BoardAtEdge, 'path'>> {
  refuseNeedless(input, ['--data', '--trust-data'], 'with --url')
  const source = tokenSource(input, env)
  if (!source) throw missing({ [TOKEN_FILE.meaning]: source })
  const token = () => readToken(source)
  // Later, what keeps it from being read looks like an edge that does not answer.
  await token()
  return { url: addressOf(url), token }
}

/** Among those that the edge lists; a board that it does not list yet may still be published. */
async function wholeName(
  edge: Omit<BoardAtEdge, 'path'>,
  name: string,
  repos: readonly string[],
): Promise<string> {
  if (exactPaths(repos).includes(name)) return name
  // Whatever keeps the list from being read, the wait itself comes to it.
  const all = await boardNames(edge).catch(() => [])
  const listed = all.filter(({ isGone }) => !isGone)
  return listed.length === 0 || coversPath(repos, name) ? name : withName(listed, name).name
}

const atEdge = (edge: FoundEdge, dir?: string): Target => ({
  board: edge.path ?? '',
  edge,
  dir,
  open: (since, signal, onAway) => edgeBoard(edge, since, signal, onAway),
})

/** Named as a start in this folder, or in one above, would name them. */
async function inFiles(
  here: string,
  name: string | undefined,
  path: string,
  notice: (sentence: string) => void,
): Promise<Target | undefined> {
  let found: NamedBoard[] = []
  let why: StoreError | undefined
  for await (const { dir, refused } of boardsAbove(here)) {
    why ??= refused
    // An agent waits for one of the folder where it is; it need not pay for a search of all.
    found = await boardsBelow(dir, name === undefined ? { depth: 0 } : {})
    if (name === undefined || called(found, name).length > 0) break
  }
  if (found.length === 0 && why) throw why
  if (found.length === 0) found = await boardsBelow(here)
  if (found.length === 0) return undefined
  const board = choose(found, name, here, notice)
  // Where a Signalbox answers, nobody needs what watches files.
  const { filesBoard } = await import('./files-board.ts')
  return {
    board: board.name,
    dir: board.dir,
    open: (since, signal) => filesBoard(board, path, since, signal),
  }
}

async function boardsBelow(project: string, bounds?: Partial<Bounds>): Promise<NamedBoard[]> {
  const { boards } = await discoverBoards([project], {}, bounds)
  const location = await locationOf(project)
  return nameBoards(boards, { repo: location, project: location }).named
}

/** The one of this name; without a name, the first one in the nearest folder at or above `here`. */
function choose<Board extends { name: string; dir: string }>(
  boards: readonly Board[],
  name: string | undefined,
  here: string,
  notice: (sentence: string) => void,
): Board {
  if (name !== undefined) return withName(boards, name)
  const [only, another] = boards
  if (only && !another) return only
  const around = boards.filter(({ dir }) => isWithin(here, dir))
  const depth = Math.max(...around.map(({ dir }) => dir.length))
  const [nearest, ...others] = around.filter(({ dir }) => dir.length === depth)
  if (!nearest) throw unclear('There are several boards', boards)
  if (others.length > 0) {
    const beside = others.map((board) => board.name).join(', ')
    notice(`The board is ${nearest.name}; --board chooses another one here: ${beside}.`)
  }
  return nearest
}

function withName<Board extends { name: string }>(boards: readonly Board[], name: string): Board {
  const matching = called(boards, name)
  const [only, another] = matching
  if (only && !another) return only
  if (only) throw unclear(`Several boards are called ${name}`, matching)
  throw unclear(`There is no board ${name}`, boards)
}

function unclear(why: string, boards: readonly { name: string }[]): UsageError {
  const names = boards.map(({ name }) => name).join(', ')
  return new UsageError(`${why}: choose one with --board: ${names}.`)
}

/** Those of this name; else those whose names end so: `web#kiro`, `kiro`. */
export function called<Board extends { name: string }>(
  boards: readonly Board[],
  end: string,
): Board[] {
  const exact = boards.filter(({ name }) => name === end)
  if (exact.length > 0) return exact
  return boards.filter(({ name }) => ['/', '\\', '#'].some((mark) => name.endsWith(mark + end)))
}

/** How often a Signalbox is looked for that does not run. */
const LOOK_MS = 1_000

/** What is found of a Signalbox that went away: it may run again at another address. */
export async function* signalboxes<Found>(
  board: string,
  find: () => Promise<Found | undefined>,
  notice: (sentence: string) => void,
  signal: AbortSignal,
): AsyncGenerator<Found | undefined, undefined> {
  notice(`No Signalbox answers for ${board}; waiting for it.`)
  while (!signal.aborted) {
    // What it reads may go away while it is read.
    yield await find().catch(() => undefined)
    await sleep(LOOK_MS, undefined, { signal }).catch(() => undefined)
  }
}
