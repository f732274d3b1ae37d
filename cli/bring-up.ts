// Brings up a system in this process, for `signalbox` and `signalbox serve`: opens it in its data
// folder, and says in local.json how to connect when it is there.

import { realpath } from 'node:fs/promises'
import { edition } from '#edition'
import { boardLocks } from '../system/data/board-lock.ts'
import type { LocalJson, ServeJson } from '../system/data/local-json.ts'
import type { SecretLocation } from '../system/data/secret.ts'
import { keptInstallation } from '../system/database/installation.ts'
import { undeliveredWarning } from '../system/local/notices.ts'
import { type BoardsHere, openSystem, type System, type SystemPlan } from '../system/one-process.ts'
import { aborted, type Running } from '../system/run-in.ts'
import { thisBoot } from './claim/agent-process.ts'
import { watchClaims } from './claim/watch-claims.ts'
import { type Context, VERSION } from './context.ts'
import { noticeTo } from './terminal.ts'

type OfSystem = 'variables' | 'file' | 'sharedUrl' | 'log' | 'sidecarLog'
type Times = 'sweepEveryMs' | 'stopWithinMs'

interface BringUpPlan extends Pick<SystemPlan, OfSystem | Times> {
  location: SecretLocation
  /** The user has chosen the data folder. */
  isChosen: boolean
  /** Absent: as the edition has it. */
  page?: SystemPlan['page'] | undefined
  /** Undefined: sidecars elsewhere publish to it, if any. */
  boards: Omit<BoardsHere, 'lock' | 'onLeft'> | undefined
  /** What local.json says, now and when a board comes or goes. */
  local(system: System): LocalJson | ServeJson
  /** A token with `board:work`. Undefined: there is nothing to claim. */
  agentToken: (() => Promise<string>) | undefined
  /** It is open, and its boards may still be read. */
  onOpen?(system: System): void
}

/** Undefined: it was asked to end before it was there. Throws StartError, or StoreError. */
export async function bringUp(
  { data, defer, signal, writeLocal, rewriteLocal }: Running,
  { io, env }: Pick<Context, 'io' | 'env'>,
  { location, isChosen, boards, local, agentToken, onOpen, page, ...plan }: BringUpPlan,
): Promise<System | undefined> {
  const notice = noticeTo(io)
  const undelivered = boards && undeliveredWarning(boards.notices, plan.variables)
  if (undelivered !== undefined) noticeTo(io, 'warn')(undelivered)
  const lock = boardLocks({ env, machine: thisBoot(), dataDir: data.dir, isChosen, notice })
  const onFound: BoardsHere['onFound'] = (board) => {
    boards?.onFound?.(board)
    rewriteLocal()
  }
  const system = await openSystem({
    ...plan,
    data,
    kept: keptInstallation(location),
    page: page ?? edition.consoleIn(data.edgeDir),
    boards: boards && { ...boards, lock, onFound, onLeft: rewriteLocal },
    version: VERSION,
    notice,
    signal,
  })
  defer(system.close)
  onOpen?.(system)
  await Promise.race([system.ready, aborted(signal)])
  if (signal.aborted) return undefined
  await writeLocal(() => local(system))
  const { url } = system.edge
  const at = [await realpath(data.dir), url]
  if (agentToken) void watchClaims({ env, at, url, token: agentToken, signal })
  return system
}
