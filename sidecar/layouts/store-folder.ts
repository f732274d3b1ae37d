// What detecting a layout asks of the disk. Reads only.

import { realpath, stat } from 'node:fs/promises'

export async function isFile(path: string): Promise<boolean> {
  return (await statOf(path))?.isFile() ?? false
}

/** The real path of a folder; undefined when there is none. */
export async function realFolder(path: string): Promise<string | undefined> {
  return (await statOf(path))?.isDirectory() ? realpath(path) : undefined
}

// Whatever cannot be looked at (no such file, no permission, a loop of links) is not there for us.
const statOf = (path: string) => stat(path).catch(() => undefined)
