// The boards that were published last by the owner of a cache. One whose folder is gone at the next
// start has no sidecar, so without this nobody would say so: it would only look ended.

import { hash } from 'node:crypto'
import { lstat, realpath } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import * as z from 'zod'
import { EMPTY_HASH } from '../../worker/board/wire.ts'
import { errorCode } from '../../worker/shared/file-errors.ts'
import { jsonIn } from '../../worker/shared/json.ts'
import { LAYOUT_NAMES } from '../../worker/shared/layouts.ts'
import { textIn } from '../../worker/shared/plain-file-node.ts'
import { makePrivateFolder, replacePrivateFile } from '../../worker/shared/private-file-node.ts'
import { isWithin } from '../layouts/store-folder.ts'
import type { Edge } from '../publish/edge.ts'
import { keyOf } from './discover.ts'
import type { NamedBoard } from './names.ts'

const LAST = z.array(
  z.object({ key: z.string(), name: z.string(), layout: z.enum(LAYOUT_NAMES), root: z.string() }),
)
export type LastBoard = z.infer<typeof LAST>[number]

/** Where it is. A cache may be that of several processes, each with other folders. */
interface Memory {
  cacheDir: string
  dirs: readonly string[]
}

const fileIn = ({ cacheDir, dirs }: Memory): string =>
  join(cacheDir, `boards-${hash('sha256', dirs.join('\0'), 'hex').slice(0, 16)}.json`)

/** None where there is no file, or one of another version. */
export const readLastBoards = async (memory: Memory): Promise<readonly LastBoard[]> =>
  LAST.safeParse(jsonIn(await textIn(fileIn(memory)))).data ?? []

export async function writeLastBoards(
  memory: Memory,
  boards: readonly NamedBoard[],
): Promise<void> {
  const last = boards.map((board): LastBoard => {
    const { layout, root } = board.store
    return { key: keyOf(board), name: board.name, layout, root }
  })
  makePrivateFolder(memory.cacheDir)
  await replacePrivateFile(fileIn(memory), JSON.stringify(last))
}

/** Whether its folder was in one of these, and is not there any more. */
export async function isGone({ root }: LastBoard, dirs: readonly string[]): Promise<boolean> {
  const real = await Promise.all(dirs.map((dir) => realpath(dir).catch(() => resolve(dir))))
  if (!real.some((dir) => isWithin(root, dir))) return false
  return await lstat(root).then(
    () => false,
    (error: unknown) => errorCode(error) === 'ENOENT',
  )
}

/**
 * As a sidecar does that ends beside a missing folder. Not where another one publishes the board:
 * to that one, the run 0 has been superseded. An edge that fails keeps what it has.
 */
export async function reportMissing(
  edge: Pick<Edge, 'root' | 'end'>,
  { layout }: LastBoard,
  version: string,
): Promise<void> {
  const store = { state: 'missing', layout, version } as const
  const root = await edge.root({ step: 'root', run: 0, store, root: EMPTY_HASH })
  if (root.ok) await edge.end({ step: 'end', run: root.value.run })
}
