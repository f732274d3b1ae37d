// What detecting a layout asks of paths and of the disk. Reads only.

import { lstatSync, type Stats } from 'node:fs'
import { realpath, stat } from 'node:fs/promises'
import { sep } from 'node:path'
import { errorCode } from '../../worker/shared/file-errors.ts'
import { readSmall } from './open-here.ts'
import { YAML_BYTES } from './yaml.ts'

/** Whether a path is this folder, or below it. Both are absolute. */
export const isWithin = (path: string, folder: string): boolean =>
  path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep)

export async function isFile(path: string): Promise<boolean> {
  return (await statOf(path))?.isFile() ?? false
}

/** The real path of a folder; undefined when there is none. */
export async function realFolder(path: string): Promise<string | undefined> {
  return (await statOf(path))?.isDirectory() ? realpath(path) : undefined
}

/** The text of a tool's configuration; empty when there is none here, or it is too large. */
export const readConfig = (path: string): string => readSmall(path, YAML_BYTES) ?? ''

// Whatever cannot be looked at (no such file, no permission, a loop of links) is not there for us.
const statOf = (path: string) => stat(path).catch(() => undefined)

/** What stands at a path; a link is not followed. Undefined: it cannot be looked at. */
export function lookAt(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })
  } catch {
    // A file may stand in the place of a folder above it.
    return undefined
  }
}

/** At such a path nothing can be. Other failures do not say that nothing is. */
const NOWHERE = new Set(['ENOTDIR', 'ELOOP', 'ENAMETOOLONG'])

/** Whether anything stands at a path, a link to nothing too. */
export function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined
  } catch (error) {
    return !NOWHERE.has(errorCode(error))
  }
}
