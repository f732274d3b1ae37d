// The program wrangler: which one is used, what it says of a Worker, and one deployment.

import { type ChildProcess, spawn } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { delimiter, dirname, join } from 'node:path'
import type { Environment } from '../context.ts'

/** What is tested with this version of Signalbox. */
export const WRANGLER_VERSION = '4.116.0'

export interface Wrangler {
  command: string
  args: readonly string[]
}

/** Through npx, which downloads it. */
export const NPX: Wrangler = { command: 'npx', args: ['--yes', `wrangler@${WRANGLER_VERSION}`] }

/** That of the folders or of those above, else of PATH. Undefined: there is none. */
export function findWrangler(dirs: readonly string[], env: Environment): Wrangler | undefined {
  const inProjects = dirs.flatMap(above).map((dir) => join(dir, 'node_modules/.bin/wrangler'))
  const inPath = (env.PATH ?? '').split(delimiter).map((dir) => join(dir, 'wrangler'))
  const command = [...inProjects, ...inPath].find(isProgram)
  return command === undefined ? undefined : { command, args: [] }
}

const above = (dir: string): string[] =>
  dirname(dir) === dir ? [dir] : [dir, ...above(dirname(dir))]

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

export interface WranglerRun {
  wrangler: Wrangler
  /** The Worker's folder. */
  dir: string
  env: Environment
  /** Ends wrangler, too. */
  signal: AbortSignal
}

/** What Cloudflare has of a Worker. */
export interface Deployed {
  /** The name of the last migration of its objects. */
  migration?: string
}

/** Undefined: there is none of this name, or nobody is logged in. */
export async function deployedAs(name: string, run: WranglerRun): Promise<Deployed | undefined> {
  const [version] = VERSION_ID.exec((await ask(['deployments', 'status'], name, run)) ?? '') ?? []
  if (version === undefined) return undefined
  const detail = await ask(['versions', 'view', version], name, run)
  const [, migration] = /"migration_tag":\s*"([^"]*)"/.exec(detail ?? '') ?? []
  return { ...(migration !== undefined && { migration }) }
}

const VERSION_ID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/

/** The JSON that it prints. Undefined: it failed. */
async function ask(words: readonly string[], name: string, run: WranglerRun) {
  const child = start([...words, '--name', name, '--json'], run, ['ignore', 'pipe', 'ignore'])
  let text = ''
  child.stdout?.setEncoding('utf8').on('data', (part: string) => {
    text += part
  })
  return (await endOf(child)) === 0 ? text : undefined
}

/**
 * Deploys what is in the folder. What wrangler prints and asks goes to and from the terminal.
 * `outputFile`: where it writes what it did. Resolves with its exit code.
 */
export function deploy(
  args: readonly string[],
  run: WranglerRun,
  outputFile: string,
): Promise<number> {
  const env = { ...run.env, WRANGLER_OUTPUT_FILE_PATH: outputFile }
  // Standard output is for our own lines.
  return endOf(start(['deploy', ...args], { ...run, env }, ['inherit', 2, 2]))
}

/** The address of the Worker, by what wrangler wrote. */
export async function deployedUrl(outputFile: string): Promise<string | undefined> {
  const text = await readFile(outputFile, 'utf8').catch(() => '')
  const entries = text.split('\n').filter(Boolean)
  const targets = entries.flatMap((line) => (JSON.parse(line) as { targets?: string[] }).targets)
  return targets.find((target) => target?.startsWith('https://'))
}

function start(
  args: readonly string[],
  { wrangler, dir, env, signal }: WranglerRun,
  stdio: ('ignore' | 'pipe' | 'inherit' | number)[],
): ChildProcess {
  const all = [...wrangler.args, ...args]
  const child = spawn(wrangler.command, all, { cwd: dir, env: { ...env }, stdio })
  signal.addEventListener('abort', () => child.kill(), { once: true })
  if (signal.aborted) child.kill()
  return child
}

/** Its exit code; 1 if it could not be started, or was ended by a signal. */
const endOf = (child: ChildProcess): Promise<number> =>
  new Promise((resolve) => {
    child.once('error', () => resolve(1))
    child.once('close', (code) => resolve(code ?? 1))
  })
