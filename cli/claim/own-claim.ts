// Which claim a command is about: of which board, of whom, and by which secret.

import { existsSync } from 'node:fs'
import { realpath } from 'node:fs/promises'
import { hostname, userInfo } from 'node:os'
import { basename, dirname, isAbsolute, join } from 'node:path'
import { BoardError } from '../../libraries/client/types.ts'
import { branchIn } from '../../sidecar/git/repository.ts'
import { inTree, leadingFolder, linkedTreeOf, treeOf } from '../../sidecar/git/worktrees.ts'
import { noBoardIn } from '../../sidecar/layouts/registry.ts'
import { isWithin } from '../../sidecar/layouts/store-folder.ts'
import { findProject } from '../../system/find-board.ts'
import { isRunning } from '../../system/lock.ts'
import { LIMIT_CODES } from '../../worker/board/claims/settings-schema.ts'
import { jsonText } from '../../worker/shared/printable.ts'
import { type Context, type Environment, type Input, noticeTo, UsageError } from '../context.ts'
import { FAILED, NOT_OURS, TIMED_OUT } from '../exit-codes.ts'
import { EdgeRefused } from '../request.ts'
import { type OptionsOf, Setting } from '../setting.ts'
import { OWN_CLAIM } from '../settings.ts'
import type { BoardAtEdge } from '../wait/edge-board.ts'
import { findTarget, TARGET, type TargetOptions } from '../wait/target.ts'
import { type AgentProcess, agentAbove, identify, isSame } from './agent-process.ts'
import { type KeptClaim, keptClaims } from './kept-claims.ts'

const TAKEN = ['claimed', 'claim_lost', 'already_holding']

/** The options of every command about claims. */
export const CLAIMING = [
  ...TARGET,
  new Setting('--actor <NAME>', 'who works [user@host:PROCESS, else user@host:FOLDER, with /TREE]'),
  new Setting('--pid <N>', 'the process that works; when it ends, so does the claim').whole(
    1,
    2 ** 31,
  ),
] as const

/** The options of commands about a claim that was made before. */
export const HELD = [...CLAIMING, OWN_CLAIM] as const

/** The board of a claim, where it runs. */
export interface Place {
  edge: BoardAtEdge & { path: string }
  /** As KeptClaim has it. */
  at: string
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

type Claiming = Input<OptionsOf<typeof CLAIMING> & { claim?: string }>

/** Undefined: there is no board; a sentence has said so. `self`: who works unless it is named. */
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
    // Of a stray worktree nobody knows: a board elsewhere needs none.
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
  const { edge, at, board: path } = target
  if (!edge || at === undefined) return { ...own, place: undefined, board: path }
  const dir = await inOwnTree(target.dir ?? (await findProject(cwd).catch(() => undefined)), cwd)
  const place = { edge: { ...edge, path: edge.path ?? path }, at, dir }
  return { ...own, place, board: path }
}

/** The folder of the board is that of the tree that leads. Real paths. */
async function inOwnTree(dir: string | undefined, cwd: string): Promise<string | undefined> {
  const [leading, own] = [dir && (await treeOf(dir)), await treeOf(cwd)]
  const isOne = dir && leading && own && leading.common === own.common
  return isOne ? inTree(leading, dir, own) : dir
}

/** An actor who is typed is meant, whoever's claim the variable has. */
const namedIn = ({ options, typed }: Claiming): string | undefined =>
  typed.has('--actor') && !typed.has('--claim') ? undefined : options.claim

/** A claim that is named says where it was made: inside of `claim -- COMMAND` nobody repeats it. */
async function whereItIsKept(input: Claiming, env: Environment): Promise<Claiming> {
  const { options } = input
  const named = namedIn(input)
  const isPlaced = [options.url, options.board, options.data].some((it) => it !== undefined)
  if (named === undefined || isPlaced) return input
  const kept = (await keptClaims(env)).find(({ claim }) => claim === named)
  if (!kept) return input
  const place = isAbsolute(kept.at) ? { data: kept.at } : { url: new URL(kept.at) }
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

export interface OwnClaim {
  /** Its secret. */
  claim: string
  kept?: KeptClaim
}

/** This actor's claim on the board, or the named one. Undefined: none; a sentence has said so. */
export async function ownClaim(
  claimant: Claimant,
  input: Claiming,
  { io, env }: Context,
): Promise<OwnClaim | undefined> {
  const named = namedIn(input)
  const all = await keptClaims(env)
  const kept =
    named === undefined ? ownAmong(all, claimant) : all.find(({ claim }) => claim === named)
  if (named !== undefined) return { claim: named, ...(kept && { kept }) }
  if (kept) return { claim: kept.claim, kept }
  const { actor, board } = claimant
  noticeTo(io)(`${actor} holds no claim of ${board}; --claim or --actor names another one.`)
  return undefined
}

/**
 * That of the actor; else the only one of its process: who claims in the main tree, and then makes
 * a worktree, is in another tree and has the same claim.
 * @forTests Each case without an edge.
 */
export function ownAmong(
  all: readonly KeptClaim[],
  claimant: Omit<Claimant, 'place'> & { place: Pick<Place, 'at' | 'edge'> | undefined },
): KeptClaim | undefined {
  const { place, here, data, board, actor, isNamed, agent } = claimant
  const open = all.filter(({ release }) => release === undefined)
  const around = place
    ? open.filter((it) => it.at === place.at && it.board === place.edge.path)
    : // Under which name is known when it runs.
      open.filter(({ at }) => (data === undefined ? isAround(here, at) : at === data))
  const ofBoard = around.filter((it) => it.board === board)
  const near = ofBoard.length > 0 ? ofBoard : around
  const own = near.find((it) => it.actor === actor)
  if (own || isNamed || !agent) return own
  const [only, another] = near.filter((it) => it.process && isSame(it.process, agent))
  return another ? undefined : only
}

const isAround = (here: string, dataDir: string): boolean =>
  isAbsolute(dataDir) && isWithin(here, dirname(dataDir))

/** Says where it is not. */
export function isPlaced(claimant: Claimant, io: Context['io']): claimant is Placed {
  const { place, board } = claimant
  const what = `A claim needs a running Signalbox, and none runs for ${board}`
  if (!place) noticeTo(io)(`${what}: start it, or use --url.`)
  return place !== undefined
}

/** The board that is meant, where it runs. Undefined: nowhere; a sentence has said so. */
export async function runningBoard(
  input: Input<TargetOptions>,
  context: Context,
): Promise<{ board: string; edge: BoardAtEdge } | undefined> {
  const notice = noticeTo(context.io)
  const target = await findTarget(input, context, notice)
  if (target?.edge)
    return { board: target.board, edge: { ...target.edge, path: target.edge.path ?? target.board } }
  if (target) notice(`No Signalbox runs for ${target.board}: start it, or use --url.`)
  else notice(noBoardIn(context.cwd, 'above or below').message)
  return undefined
}

/** What a command prints, and how it ends. */
export type Answered = ({ line: object } | { text: string }) & { code?: number }

/** Prints what it answers, and turns what the edge refuses into an exit code and a sentence. */
export async function printAnswer(
  io: Context['io'],
  { board }: { board: string },
  ask: () => Promise<Answered>,
): Promise<number> {
  const notice = noticeTo(io)
  try {
    const answer = await ask()
    io.out('line' in answer ? `${jsonText(answer.line)}\n` : answer.text)
    return answer.code ?? 0
  } catch (error) {
    if (error instanceof EdgeRefused) {
      const { problem } = error
      io.out(`${jsonText({ type: problem.code, ...problem, board })}\n`)
      notice(problem.error)
      if (LIMIT_CODES.includes(problem.code)) return TIMED_OUT
      return TAKEN.includes(problem.code) ? NOT_OURS : FAILED
    }
    if (!(error instanceof BoardError)) throw error
    notice(error.message)
    return FAILED
  }
}
