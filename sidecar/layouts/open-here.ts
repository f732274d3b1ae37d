// Opens a file or a folder of a board at its path, and nowhere else. What a path leads to may be
// swapped for a link at any moment, also between two looks at it, so what was opened is compared.

import {
  closeSync,
  type Dir,
  fstatSync,
  lstatSync,
  opendirSync,
  openSync,
  readlinkSync,
  readSync,
  realpathSync,
  type Stats,
} from 'node:fs'
import { READ_HERE } from '../../worker/shared/plain-file-node.ts'

/** A folder above is a link, or what was opened is not what stands at the path. */
class ElsewhereError extends Error {
  override readonly name = 'ElsewhereError'
  readonly code = 'elsewhere'
}

/** Where a descriptor's file is; undefined: this system does not say. */
export type PathOfFd = (fd: number) => string | undefined

/**
 * The descriptor of what is at this real path. Throws as `openSync` does (ELOOP: it is a link), and
 * ElsewhereError where a link above it leads to something else.
 */
export function openHere(path: string, pathOfFd: PathOfFd = pathByProc): number {
  const fd = openSync(path, READ_HERE)
  try {
    const openPath = pathOfFd(fd)
    if (openPath === undefined ? isStillAt(path, fd) : isSame(openPath, path)) return fd
    throw new ElsewhereError(`${path} leads elsewhere.`)
  } catch (error) {
    closeSync(fd)
    throw error
  }
}

/** Linux names the file itself, which no swap of folders changes afterwards. */
function pathByProc(fd: number): string | undefined {
  try {
    return process.platform === 'linux' ? readlinkSync(`/proc/self/fd/${fd}`) : undefined
  } catch {
    // Some containers have no /proc.
    return undefined
  }
}

/** A file that was replaced since then is still that of this path. */
const isSame = (openPath: string, path: string): boolean =>
  openPath === path || openPath === `${path} (deleted)`

/** Asks twice, since the path may be swapped between a look at its name and one at its identity. */
function isStillAt(path: string, fd: number): boolean {
  const { dev, ino } = fstatSync(fd, { bigint: true })
  const isHere = () => {
    const found = lstatSync(path, { bigint: true })
    return isSpelled(realpathSync.native(path), path) && found.dev === dev && found.ino === ino
  }
  return isHere() && isHere()
}

/** macOS and Windows spell the same name in several ways. */
const isSpelled = (real: string, path: string): boolean => folded(real) === folded(path)

const folded = (path: string): string =>
  process.platform === 'linux' ? path : path.normalize('NFC').toLowerCase()

/** Lists the folder that is here: the names of another one could become tasks. */
export function openFolderHere(path: string, options: { bufferSize: number }): Dir {
  if (process.platform !== 'linux') return opendirSync(path, options)
  const fd = openHere(path)
  try {
    return opendirSync(pathByProc(fd) === undefined ? path : `/proc/self/fd/${fd}`, options)
  } finally {
    closeSync(fd)
  }
}

/** The first `size` bytes, or fewer when the file was cut meanwhile. */
export function readAtMost(fd: number, size: number): Buffer {
  const buffer = Buffer.allocUnsafe(size)
  let length = 0
  while (length < size) {
    const count = readSync(fd, buffer, length, size - length, null)
    if (count === 0) break
    length += count
  }
  return buffer.subarray(0, length)
}

/** What `read` makes of the usual file that is here. Undefined: there is none that can be read. */
function inFileHere<Read>(
  path: string,
  read: (fd: number, stat: Stats) => Read | undefined,
): Read | undefined {
  let fd: number
  try {
    fd = openHere(path)
  } catch {
    return undefined
  }
  try {
    const stat = fstatSync(fd)
    return stat.isFile() ? read(fd, stat) : undefined
  } catch {
    return undefined
  } finally {
    closeSync(fd)
  }
}

/** A small file. Undefined: there is none, it is no usual file, or it is larger. */
export const readHere = (
  path: string,
  maxBytes: number,
): { bytes: Buffer; stat: Stats } | undefined =>
  inFileHere(path, (fd, stat) =>
    stat.size > maxBytes ? undefined : { bytes: readAtMost(fd, stat.size), stat },
  )

/** The text of one. */
export const readSmall = (path: string, maxBytes: number): string | undefined =>
  readHere(path, maxBytes)?.bytes.toString('utf8')

/** The last bytes of a file that grows, as text; the first of them may be a part of a line. */
export const readEnd = (path: string, maxBytes: number): string | undefined =>
  inFileHere(path, (fd, stat) => {
    const size = Math.min(stat.size, maxBytes)
    const bytes = Buffer.alloc(size)
    return bytes.toString('utf8', 0, readSync(fd, bytes, 0, size, stat.size - size))
  })
