// The data folder of a running system. Reads, and makes nothing.

import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { LocalJson } from '../local/local-json.ts'
import { DATA_DIR } from '../local/options.ts'
import { type Finding, ok } from './findings.ts'
import { type Settings, UsageError } from './settings.ts'

export interface RunningStart {
  /** Its data folder. */
  dir: string
  local: LocalJson
  /** Of the data folder: signs tokens. */
  secret: string
}

/** The start that --data names, which says what these options would say. Throws UsageError. */
export async function runningStart(settings: Settings): Promise<RunningStart | undefined> {
  const dir = settings.given('data')
  if (dir === undefined) return undefined
  for (const name of ['edge', 'repo', 'env', 'token-file'] as const) {
    if (settings.given(name) === undefined) continue
    throw new UsageError(`--data says what --${name} would say: give one of them.`)
  }
  return await readDataFolder(dir)
}

/**
 * The system that runs in this project, for a check that names no other place. Throws UsageError
 * for a local.json that cannot be used.
 */
export async function systemIn(
  project: string,
  settings: Settings,
): Promise<RunningStart | undefined> {
  if (settings.text('edge') !== undefined) return undefined
  const others = ['data', 'repo', 'env', 'token-file'] as const
  if (others.some((name) => settings.given(name) !== undefined)) return undefined
  const dir = join(project, DATA_DIR)
  return existsSync(join(dir, 'local.json')) ? await readDataFolder(dir) : undefined
}

/** Precedes the findings about a running system that was found, and not named. */
export const takenFrom = ({ dir }: RunningStart): Finding =>
  ok('system', `Edge, token and variables are those of the running signalbox of ${dir}.`)

/** For an edge that was not named. */
export const NO_EDGE = 'Not checked: name one with --edge or --data.'

/** Throws UsageError when no system runs with it. */
export async function readDataFolder(dir: string): Promise<RunningStart> {
  const local = parsed(await read(dir, 'local.json'))
  if (!local) throw new UsageError(`${join(dir, 'local.json')} is of another version of Signalbox.`)
  return { dir, local, secret: (await read(dir, 'secret')).trim() }
}

const NAMES = ['url', 'path', 'database', 'databaseToken', 'simulator'] as const

/** Without the parser's message, which quotes what it read, and that is tokens. */
function parsed(text: string): LocalJson | undefined {
  try {
    const local = JSON.parse(text) as LocalJson
    const { sidecar, payments } = local.tokens
    const texts = [...NAMES.map((name) => local[name]), sidecar, payments]
    const isOurs = texts.every((it) => typeof it === 'string') && local.gateways instanceof Object
    return isOurs ? local : undefined
  } catch {
    return undefined
  }
}

async function read(dir: string, name: string): Promise<string> {
  const file = join(resolve(dir), name)
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unreadable'
    const start = 'Signalbox is not running here: start it with npx signalbox.'
    throw new UsageError(`${start} The data folder is ${dir} (${name}: ${code}).`)
  }
}
