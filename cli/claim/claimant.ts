// Who works on which board, as a command about claims was called.

import { existsSync } from 'node:fs'
import { realpath } from 'node:fs/promises'
import { hostname, userInfo } from 'node:os'
import { basename, join } from 'node:path'
import { branchIn } from '../../sidecar/git/heads.ts'
import { inTree, leadingFolder, linkedTreeOf, treeOf } from '../../sidecar/git/worktrees.ts'
import { noBoardIn } from '../../sidecar/layouts/registry.ts'
import { isRunning } from '../../system/data/lock.ts'
import { findProject } from '../../system/find-board.ts'
import { type FoundEdge, findTarget, isDataFolder, TARGET } from '../board/target.ts'
import type { Context, Environment } from '../context.ts'
import { type OptionsOf, Setting } from '../setting.ts'
import { noticeTo } from '../terminal.ts'
import { type Input, UsageError } from '../usage.ts'
import { type AgentProcess, agentAbove, identify } from './agent-process.ts'
import { keptClaims } from './kept-claims.ts'

/** The options of every command about claims. */
export const CLAIMING = [
  ...TARGET,
  new Setting('--actor <NAME>', 'who works [user@host:PROCESS, else user@host:FOLDER, with /TREE]'),
  new Setting('--pid <N>', 'the process that works; when it ends, so does the claim').whole(
    1,
    2 ** 31,
  ),
] as const

/** The board of a claim, where it runs. */
export interface Place {
  edge: FoundEdge & { path: string }
  /** The folder of its project in this user's tree. Undefined: it is not known. */
  dir: string | undefined
}

export interface Claimant {
  /** Undefined: no Signalbox runs for the board. */
  place: Place | undefined
  board: string
  actor: string
  /** The actor was named. */
  isNamed: boolean
  agent: AgentProcess | undefined
  /** The linked worktree in which it is called: what is begun there is its own. */
  tree: string | undefined
  /** The branch of that tree, else of the main one. */
  branch: string | undefined
  /** Its own git folder. */
  gitFolder: string | undefined
  /** Where that is asked, in the main tree; the data folder, if that was named. */
  here: string
  data: string | undefined
}

export type Placed = Claimant & { place: Place }

export type Claiming = Input<OptionsOf<typeof CLAIMING> & { claim?: string }>

/** Undefined: there is no board; a sentence is printed. `self`: who works unless it is named. */
export async function claimantOf(
  asked: Claiming,
  context: Context,
  { self, notice = noticeTo(context.io) }: { self?: number; notice?: (text: string) => void } = {},
): Promise<Claimant | undefined> {
  const input = await whereItIsKept(asked, context.env)
  const { data, actor, board } = input.options
  const cwd = await realpath(context.cwd)
  const agent = agentOf(input.options.pid ?? self)
  const tree = await linkedTreeOf(cwd)
  const name = tree && basename(tree.gitFolder)
  const git = tree ?? (await treeOf(cwd))
  const who = `${userInfo().username}@${hostname()}:${agent?.pid ?? basename(cwd)}`
  const own = {
    // Subagents share a process, and each works in a tree of its own.
    actor: actor ?? (name === undefined ? who : `${who}/${name}`),
    isNamed: actor !== undefined,
    agent,
    tree: name,
    branch: git && branchIn(git.gitFolder),
    gitFolder: git?.gitFolder,
    // A stray worktree has no main tree; a board elsewhere needs none.
    here: await leadingFolder(cwd).catch(() => cwd),
    data: data && (await realpath(data).catch(() => data)),
  }
  if (data !== undefined && !(await isReady(data))) {
    return { ...own, place: undefined, board: board ?? data }
  }
  const target = await findTarget(input, context, notice, 'agent')
  if (!target) {
    notice(noBoardIn(context.cwd, 'above or below').message)
    return undefined
  }
  const { edge, board: path } = target
  if (!edge) return { ...own, place: undefined, board: path }
  const dir = await inOwnTree(target.dir ?? (await findProject(cwd).catch(() => undefined)), cwd)
  const place = { edge: { ...edge, path: edge.path ?? path }, dir }
  return { ...own, place, board: path }
}

/** The folder of the board is that of the tree that leads. Real paths. */
async function inOwnTree(dir: string | undefined, cwd: string): Promise<string | undefined> {
  const [leading, own] = [dir && (await treeOf(dir)), await treeOf(cwd)]
  const isOne = dir && leading && own && leading.common === own.common
  return isOne ? inTree(leading, dir, own) : dir
}

/** A typed --actor is meant, and not the claim in the environment. */
export const namedIn = ({ options, typed }: Claiming): string | undefined =>
  typed.has('--actor') && !typed.has('--claim') ? undefined : options.claim

/** A claim that is named says where it was made: inside of `claim -- COMMAND` nobody repeats it. */
async function whereItIsKept(input: Claiming, env: Environment): Promise<Claiming> {
  const { options } = input
  const named = namedIn(input)
  const saysWhere = [options.url, options.board, options.data].some((it) => it !== undefined)
  if (named === undefined || saysWhere) return input
  const kept = (await keptClaims(env)).find(({ claim }) => claim === named)
  if (!kept) return input
  const place = isDataFolder(kept.at) ? { data: kept.at } : { url: new URL(kept.at) }
  return { ...input, options: { ...options, ...place, board: kept.board } }
}

/** It runs with this data folder, and says where. */
const isReady = async (data: string): Promise<boolean> =>
  existsSync(join(data, 'local.json')) && (await isRunning(data))

function agentOf(pid: number | undefined): AgentProcess | undefined {
  const at = pid ?? agentAbove()
  const agent = at === undefined ? undefined : identify(at)
  if (pid !== undefined && !agent) throw new UsageError(`There is no process ${pid} (--pid).`)
  return agent
}

/** False: no Signalbox runs for the board; a sentence is printed. */
export function isPlaced(claimant: Claimant, io: Context['io']): claimant is Placed {
  const { place, board } = claimant
  const what = `A claim needs a running Signalbox, and none runs for ${board}`
  if (!place) noticeTo(io)(`${what}: start it, or use --url.`)
  return place !== undefined
}
