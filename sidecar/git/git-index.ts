// What git's index says of the files of a tree: a file with the stat that it names has the bytes of
// its blob. So a tree is read only where it differs.

import { join } from 'node:path'
import type { FileStat } from '../files/file-stat.ts'
import { readHere } from '../layouts/open-here.ts'

const INDEX_BYTES = 64 << 20

/**
 * Says of a file, by its path from the top and its stat, which blob it is. Undefined: that is not
 * known. `isWanted`: which files are asked for. Without an index it knows none.
 */
export function readIndex(
  gitFolder: string,
  algorithm: 'sha1' | 'sha256',
  isWanted: (path: string) => boolean,
): (path: string, stat: FileStat) => string | undefined {
  const { bytes, stat: written } = readHere(join(gitFolder, 'index'), INDEX_BYTES) ?? {}
  const files = bytes && parseIndex(bytes, algorithm === 'sha1' ? 20 : 32, isWanted)
  return (path, stat) => {
    const indexed = files?.get(path)
    return indexed && written && isAsIndexed(stat, indexed, written.mtimeMs)
      ? indexed.blob
      : undefined
  }
}

interface Indexed {
  blob: string
  size: number
  mtimeMs: number
  ctimeMs: number
  ino: number
}

/** Before the id: times, device, inode, mode, owner and size, of 4 bytes each. */
const STAT_BYTES = 40
const EXTENDED = 0x4000
const NAME_LENGTH = 0x0fff

/**
 * The files of an index, by their paths from the top; `wanted` says which. Empty for a version that
 * is not read (4), and for what is no index.
 * @forTests An index that is cut.
 */
export function parseIndex(
  bytes: Buffer,
  idBytes: 20 | 32,
  wanted: (path: string) => boolean,
): Map<string, Indexed> {
  const found = new Map<string, Indexed>()
  const isIndex = bytes.length > 12 && bytes.toString('latin1', 0, 4) === 'DIRC'
  if (!isIndex || ![2, 3].includes(bytes.readUInt32BE(4))) return found
  let at = 12
  for (let left = bytes.readUInt32BE(8); left > 0; left--) {
    const idAt = at + STAT_BYTES
    const flagsAt = idAt + idBytes
    if (flagsAt + 4 > bytes.length) return found
    const flags = bytes.readUInt16BE(flagsAt)
    const nameAt = flagsAt + ((flags & EXTENDED) === 0 ? 2 : 4)
    const length = flags & NAME_LENGTH
    const end = length < NAME_LENGTH ? nameAt + length : bytes.indexOf(0, nameAt)
    if (end < nameAt || end > bytes.length) return found
    const path = bytes.toString('utf8', nameAt, end)
    if (wanted(path)) {
      const word = (n: number) => bytes.readUInt32BE(at + 4 * n)
      found.set(path, {
        blob: bytes.toString('hex', idAt, flagsAt),
        ctimeMs: word(0) * 1_000 + word(1) / 1e6,
        mtimeMs: word(2) * 1_000 + word(3) / 1e6,
        ino: word(5),
        size: word(9),
      })
    }
    // Padded with one to eight zeros.
    at += ((end - at + 8) >> 3) << 3
  }
  return found
}

/** Doubles of ms are so precise. */
const ALMOST_MS = 0.001

const isNear = (one: number, other: number): boolean => Math.abs(one - other) < ALMOST_MS

/**
 * `writtenMs`: when the index was. What changed at that moment is not trusted, as git does not.
 * @forTests Without waiting for that moment.
 */
export const isAsIndexed = (stat: FileStat, indexed: Indexed, writtenMs: number): boolean =>
  stat.size === indexed.size &&
  stat.ino % 2 ** 32 === indexed.ino &&
  isNear(stat.mtimeMs, indexed.mtimeMs) &&
  isNear(stat.ctimeMs, indexed.ctimeMs) &&
  stat.mtimeMs < writtenMs - ALMOST_MS
