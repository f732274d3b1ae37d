// Opens a file that may not be what it should be. Folders come with repositories of others, and in
// one a named pipe without a writer would be waited for without end, a link would lead to what is
// not meant, and a device would be read for ever. For hosts that are a process.

import { closeSync, constants, fstatSync, openSync, type Stats } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'

// Windows knows neither flag.
const WITHOUT_WAITING = constants.O_NONBLOCK ?? 0
const WITHOUT_LINKS = constants.O_NOFOLLOW ?? 0

/** Of what may be a folder, too: who uses it looks at what was opened. */
export const READ_HERE = constants.O_RDONLY | WITHOUT_WAITING | WITHOUT_LINKS

/** Files of ours hold a few lines. */
const MAX_BYTES = 4 << 20

/** It is a folder, a pipe or a device, or larger than files of its kind are. */
export class PlainFileError extends Error {
  override readonly name = 'PlainFileError'
  readonly code = 'not_plain'
  /** What is to be said of the file, which the message leaves out. */
  readonly why: string

  constructor(why: string) {
    super(`it ${why}`)
    this.why = why
  }
}

interface Opened {
  /** Operators keep secrets behind links, as Kubernetes does. Files of ours are none. */
  followsLinks?: boolean
}

/** Opens a regular file to read it. Throws PlainFileError, and as Node does (ELOOP: a link). */
export async function openPlain(path: string, { followsLinks = false }: Opened = {}) {
  const handle = await open(path, followsLinks ? READ_HERE & ~WITHOUT_LINKS : READ_HERE)
  try {
    const stats = await handle.stat()
    refuseOdd(stats)
    return { handle, stats }
  } catch (error) {
    await handle.close()
    throw error
  }
}

/** The text of a small file, and what it was found to be. Throws as openPlain does. */
export async function readPlain(
  path: string,
  how?: Opened,
): Promise<{ text: string; stats: Stats }> {
  const { handle, stats } = await openPlain(path, how)
  await using file: FileHandle = handle
  if (stats.size > MAX_BYTES) throw new PlainFileError('is larger than 4 MiB')
  return { text: await file.readFile('utf8'), stats }
}

/** Its text, or undefined where there is none that can be read. */
export const textIn = (path: string): Promise<string | undefined> =>
  readPlain(path).then(
    ({ text }) => text,
    () => undefined,
  )

/** The descriptor of a file to add to, for its owner alone; made if there is none. */
export function openToAdd(path: string): number {
  const { O_WRONLY, O_APPEND, O_CREAT } = constants
  const fd = openSync(path, O_WRONLY | O_APPEND | O_CREAT | WITHOUT_WAITING | WITHOUT_LINKS, 0o600)
  try {
    refuseOdd(fstatSync(fd))
    return fd
  } catch (error) {
    closeSync(fd)
    throw error
  }
}

/** Throws PlainFileError. */
export function refuseOdd(stats: Pick<Stats, 'isFile'>): void {
  if (!stats.isFile()) throw new PlainFileError('is no regular file')
}
