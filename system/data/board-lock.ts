// One Signalbox a board: two of one board would each give out its tasks. A lock in the user's state
// folder, which the system drops with the process.

import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { errorCode } from '../../worker/shared/file-errors.ts'
import { makePrivateFolder } from '../../worker/shared/private-file-node.ts'
import { stateFolder } from '../../worker/shared/user-folders-node.ts'
import { readLocalJson } from './local-json.ts'
import { type Lock, takeLock } from './lock.ts'

interface BoardLockPlan {
  env: Readonly<Record<string, string | undefined>>
  /** Of this process: a state folder may be of several machines and containers. */
  machine: { boot: string; namespace: string }
  /** Where this Signalbox has its data. */
  dataDir: string
  /** The user has chosen that folder: all run. */
  isChosen: boolean
  /** Shows a sentence. */
  notice(sentence: string): void
}

export interface LockedBoard {
  /** The same for all that find this board. */
  key: string
  name: string
}

/** Takes a board; a sentence: why it is left out. What it returns gives it back. */
export type TakeBoard = (board: LockedBoard) => Promise<string | (() => Promise<void>)>

/** Each sentence is shown once. */
export function boardLocks(plan: BoardLockPlan): TakeBoard {
  const { isChosen, notice } = plan
  const shown = new Set<string>()
  const goOn = (why: string) => {
    if (!shown.has(why)) notice(why)
    shown.add(why)
    return () => Promise.resolve()
  }
  return async (board) => {
    const lock = await lockOf(board, plan)
    if (typeof lock === 'string') {
      const what = 'no other Signalbox is kept from the same boards'
      return goOn(`There is no lock for boards (${lock}): ${what}.`)
    }
    if (lock.ok) return lock.release
    const there = `Signalbox already runs for the board ${board.name}${await whereIs(lock)}`
    if (!isChosen) return `${there}: it is left out here.`
    return goOn(`${there}. It runs here, too (--data), and claims are not shared.`)
  }
}

/** A sentence: why there can be none. */
async function lockOf(
  { key }: LockedBoard,
  { env, machine: { boot, namespace }, dataDir }: BoardLockPlan,
): Promise<Lock | string> {
  const state = stateFolder(env)
  if (state === undefined) return 'HOME names no folder'
  try {
    const dir = join(state, 'boards', hashOf(`${boot} ${namespace}`))
    makePrivateFolder(dir)
    return await takeLock(dir, { name: hashOf(key), place: dataDir })
  } catch (error) {
    return [state, errorCode(error)].filter(Boolean).join(': ')
  }
}

async function whereIs({ pid, place }: Extract<Lock, { ok: false }>): Promise<string> {
  const local = place === undefined ? undefined : await readLocalJson(place).catch(() => undefined)
  const at = local ? ` at ${local.url}` : ''
  const who = [...(pid === undefined ? [] : [`pid ${pid}`]), ...(place ? [`data in ${place}`] : [])]
  return who.length === 0 ? at : `${at} (${who.join(', ')})`
}

const hashOf = (text: string): string =>
  createHash('sha256').update(text).digest('hex').slice(0, 32)
