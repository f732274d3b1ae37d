// The user's own folders, as the XDG Base Directory Specification has them. Undefined: the
// environment names none, as in a container without HOME.

import { type Stats, statSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import { makePrivateFolder } from './private-file-node.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** For what outlives a start. */
export const stateFolder = (env: Environment): string | undefined =>
  ourPart(env.XDG_STATE_HOME, inHome(env, '.local/state'))

/** For what can be made again. */
export function cacheFolder(env: Environment): string | undefined {
  if (process.platform === 'darwin') return ourPart(inHome(env, 'Library/Caches'))
  return ourPart(env.XDG_CACHE_HOME, inHome(env, '.cache'))
}

/**
 * The folder of compiled code, made if it can be. It is run, so it must never be one that others
 * can write to, or that came with a repository.
 */
export function compileCache(env: Environment): string | undefined {
  const cache = cacheFolder(env)
  if (cache === undefined) return undefined
  const dir = join(cache, 'compiled')
  try {
    makePrivateFolder(dir)
    return isOwnersAlone(statSync(dir)) ? dir : undefined
  } catch {
    // It saves time, and nothing else.
    return undefined
  }
}

const OTHERS = 0o077

export const isOwnersAlone = ({ uid, mode }: Stats): boolean =>
  uid === process.getuid?.() && (mode & OTHERS) === 0

/** Relative ones are ignored, as the specification asks. */
function ourPart(...folders: (string | undefined)[]): string | undefined {
  const folder = folders.find((it) => it !== undefined && isAbsolute(it))
  return folder === undefined ? undefined : join(folder, 'signalbox')
}

const inHome = ({ HOME }: Environment, path: string): string | undefined =>
  HOME ? join(HOME, path) : undefined
