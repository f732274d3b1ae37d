// Reads one file of a store, and never anything else: no folder, no device, no link that leaves
// the store, nothing without bounds. Synchronous, because a task file is a few KiB: handing it to
// the thread pool costs more than reading it.

import { isUtf8 } from 'node:buffer'
import { closeSync, fstatSync } from 'node:fs'
import { errorCode } from '../../worker/shared/file-errors.ts'
import type { FileKind, Store } from '../layouts/layout.ts'
import { openHere, type PathOfFd, readAtMost } from '../layouts/open-here.ts'
import { isThere } from '../layouts/store-folder.ts'
import { sizeText } from '../layouts/text.ts'
import type { FileStat } from './file-stat.ts'

/** No person writes a longer task, and nothing else goes on while a file is read. */
const FILE_BYTES = 1 << 20
/** A program may have printed all of it. What is published of it is shorter. */
const RUN_BYTES = 8 << 20
/** A file may be replaced or written to while it is read. Then it is read up to so many times. */
const TRIES = 4

export type Source =
  | {
      state: 'read'
      text: string
      bytes: Buffer
      /** As it was before the text was read. */
      stat: FileStat
      /** It was still being written after several tries: another change is certain to follow. */
      changing?: true
    }
  | { state: 'gone' }
  | {
      state: 'refused'
      /** One sentence. */
      why: string
      /** The machine's fault (no file handles left, a disk error), not the file's: ask again. */
      transient?: true
      /** A link above it leads elsewhere, or did a moment ago: nothing is known of this file. */
      elsewhere?: true
    }

type ReadStore = Pick<Store, 'classify' | 'listBytes'>

/**
 * Reads a path that `store.classify` knows. Never throws, never blocks on a pipe. `pathOfFd`:
 * absent but in tests.
 */
export function readSource(store: ReadStore, path: string, pathOfFd?: PathOfFd): Source {
  for (let attempt = 1; ; attempt++) {
    const { source, again } = tryRead(store, path, pathOfFd)
    if (!again || attempt === TRIES) return source
  }
}

interface Attempt {
  source: Source
  /** What was seen is no whole state of the file. */
  again: boolean
}

function mostBytes({ listBytes = FILE_BYTES }: ReadStore, kind: FileKind | undefined): number {
  if (kind === 'tasks') return listBytes
  return kind === 'run' ? RUN_BYTES : FILE_BYTES
}

function tryRead(store: ReadStore, path: string, pathOfFd?: PathOfFd): Attempt {
  try {
    return readRegular(store, path, pathOfFd)
  } catch (error) {
    return failure(path, error)
  }
}

function readRegular(store: ReadStore, path: string, pathOfFd?: PathOfFd): Attempt {
  const kind = store.classify(path)
  const most = mostBytes(store, kind)
  const fd = openHere(path, pathOfFd)
  try {
    const before = fstatSync(fd)
    if (!before.isFile()) {
      return final({ state: 'refused', why: 'The path is not a regular file.' })
    }
    if (before.size > most) return final({ state: 'refused', why: tooLarge(before.size, most) })
    const bytes = readAtMost(fd, before.size)
    const { size, mtimeMs } = fstatSync(fd)
    const again = size !== bytes.length || mtimeMs !== before.mtimeMs
    const text = decode(bytes, kind)
    // A write that was caught in the middle of a character is no reason to refuse: `again`.
    if (text === undefined) {
      return { source: { state: 'refused', why: 'The file is not UTF-8 text.' }, again }
    }
    const source = { state: 'read', text, bytes, stat: before } as const
    return again ? { source: { ...source, changing: true }, again } : final(source)
  } finally {
    closeSync(fd)
  }
}

const LINK = 'The file is a link or behind one, and no link is followed.'

const final = (source: Source): Attempt => ({ source, again: false })

const tooLarge = (size: number, most: number): string =>
  `The file is too large: ${sizeText(size)}, and at most ${sizeText(most)} are read.`

/** A byte order mark is dropped. */
function decode(bytes: Buffer, kind: FileKind | undefined): string | undefined {
  // A run's output is the last 8 KiB of what a program printed, often cut within a character.
  if (kind === 'run' || isUtf8(bytes)) return new TextDecoder().decode(bytes)
  return undefined
}

function failure(path: string, error: unknown): Attempt {
  const code = errorCode(error) || 'unknown'
  switch (code) {
    case 'ENOTDIR':
      return final({ state: 'gone' })
    case 'ENOENT':
      // There after all: a link to nothing, or a file that was replaced while it was looked at.
      return isThere(path)
        ? { source: { state: 'refused', why: 'The file is a link to nothing.' }, again: true }
        : final({ state: 'gone' })
    case 'ELOOP':
    // FreeBSD says so of a link that is not followed.
    case 'EMLINK':
      return final({ state: 'refused', why: LINK })
    case 'elsewhere':
      return { source: { state: 'refused', why: LINK, elsewhere: true }, again: true }
    case 'EACCES':
    case 'EPERM':
      return final({ state: 'refused', why: 'The file may not be read by this user.' })
    case 'ENXIO':
      return final({ state: 'refused', why: 'The path is not a regular file.' })
    default: {
      const why = `The file could not be read (${code}).`
      return { source: { state: 'refused', why, transient: true }, again: false }
    }
  }
}
