// Where a program is that is called by its name. An empty or relative part of PATH is the folder in
// which it is called, and that may have come with a repository. For hosts that are a process.

import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, isAbsolute, join } from 'node:path'

const absoluteParts = (path: string): string[] => path.split(delimiter).filter(isAbsolute)

/** The environment with the absolute parts of its PATH alone: a program starts others by name. */
export const withAbsolutePath = (env: Readonly<Record<string, string | undefined>>) => ({
  ...env,
  PATH: absoluteParts(env.PATH ?? '').join(delimiter),
})

/** Its whole path; undefined: there is none. */
export const findProgram = (name: string, path: string, is = isProgram): string | undefined =>
  absoluteParts(path)
    .map((dir) => join(dir, name))
    .find((file) => is(file))

export function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return statSync(file).isFile()
  } catch {
    return false
  }
}
