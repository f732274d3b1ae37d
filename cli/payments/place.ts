// What a command is pointed at: variables, an edge and a token, from a running `npm start`, from a
// file, or from the environment.

import { readFile } from 'node:fs/promises'
import { parseEnv } from 'node:util'
import type { Environment } from '../../local/environment.ts'
import type { Surroundings } from './command.ts'
import { type Flags, UsageError } from './flags.ts'
import { readRunningSystem } from './running-system.ts'

export interface Place {
  /** Variables as the edge has them. */
  env: Environment
  /** Without a slash at its end. */
  edge: string | undefined
  /** For the edge. */
  token: string | undefined
  /** Gateways that the running system has other variables of than this shell. */
  differing: readonly string[]
}

/** Complains to `flags` about a malformed edge. Throws UsageError for files that cannot be read. */
export async function readPlace(flags: Flags, surroundings: Surroundings): Promise<Place> {
  const { env } = surroundings
  const dir = flags.given('data')
  if (dir !== undefined) {
    for (const name of ['edge', 'env-file', 'token-file'] as const) {
      if (flags.given(name) === undefined) continue
      throw new UsageError(`--data says what --${name} would; give one of them.`)
    }
    const { url, token, variables, differing } = await readRunningSystem(dir, surroundings)
    return { env: variables, edge: url, token, differing }
  }
  const file = flags.given('env-file')
  const variables = file === undefined ? env : parseEnv(await read('--env-file', file))
  return { env: variables, edge: edgeOf(flags), token: await tokenOf(flags), differing: [] }
}

function edgeOf(flags: Flags): string | undefined {
  const text = flags.text('edge')
  if (text === undefined) return undefined
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url && /^https?:$/.test(url.protocol) && !url.username) return url.href.replace(/\/+$/, '')
  flags.malformed('--edge (or SIGNALBOX_EDGE) must be an http or https URL')
  return undefined
}

async function tokenOf(flags: Flags): Promise<string | undefined> {
  const file = flags.given('token-file')
  const variable = flags.variable('SIGNALBOX_TOKEN')
  if (file === undefined && variable !== undefined) return checked(variable, 'SIGNALBOX_TOKEN')
  const path = flags.text('token-file')
  if (path === undefined) return undefined
  return checked((await read('--token-file', path)).trim(), '--token-file')
}

function checked(token: string, source: string): string {
  // Anything else cannot stand in a header.
  if (/^[\x21-\x7e]+$/.test(token)) return token
  throw new UsageError(`${source} holds no token.`)
}

async function read(flag: string, file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unreadable'
    throw new UsageError(`${flag} ${file} cannot be read (${code}).`)
  }
}
