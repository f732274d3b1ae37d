// The program wrangler: which one is used, what it prints of a Worker, and one deployment.

import { type ChildProcess, spawn } from 'node:child_process'
import { devNull } from 'node:os'
import { dirname, isAbsolute, join, parse } from 'node:path'
import { jsonIn } from '../../worker/shared/json.ts'
import { textIn } from '../../worker/shared/plain-file-node.ts'
import { findProgram, isProgram, withAbsolutePath } from '../../worker/shared/programs-node.ts'
import { type Context, type Environment, VERSION } from '../context.ts'
import { noticeTo } from '../terminal.ts'

/** What is tested with this version of Signalbox. */
export const WRANGLER_VERSION = '4.116.0'

export interface Wrangler {
  command: string
  args: readonly string[]
  /** It may have come with a repository, or is downloaded: nobody has chosen to run it yet. */
  isUnknown: boolean
}

/** Through npx, which downloads it. */
const NPX: Wrangler = {
  command: 'npx',
  args: ['--yes', `wrangler@${WRANGLER_VERSION}`],
  isUnknown: true,
}

/** That of the folders or of those above, else of PATH. Undefined: there is none. */
function findWrangler(dirs: readonly string[], env: Environment): Wrangler | undefined {
  const inProjects = dirs.flatMap(above).map((dir) => join(dir, 'node_modules/.bin/wrangler'))
  const own = inProjects.find(isProgram)
  if (own !== undefined) return { command: own, args: [], isUnknown: true }
  const installed = findProgram('wrangler', env.PATH ?? '')
  return installed === undefined ? undefined : { command: installed, args: [], isUnknown: false }
}

const above = (dir: string): string[] =>
  dirname(dir) === dir ? [dir] : [dir, ...above(dirname(dir))]

export const lineOf = ({ command, args }: Wrangler): string => [command, ...args].join(' ')

/**
 * One of the project may have come with a repository: `mayRun` asks. Undefined: nobody wants to run
 * it. `dir`: the Worker's folder.
 */
export async function chooseWrangler(
  dir: string,
  { io, env, cwd }: Context,
  mayRun: () => Promise<boolean>,
): Promise<Wrangler | undefined> {
  const found = findWrangler([dir, cwd], env)
  const wrangler = found ?? NPX
  if (!wrangler.isUnknown) return wrangler
  const line = lineOf(wrangler)
  noticeTo(io)(
    found
      ? `wrangler is that of the project: ${line}`
      : `There is no wrangler here. ${line} downloads the one that is tested with ${VERSION}.`,
  )
  return (await mayRun()) ? wrangler : undefined
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
  isThere: boolean
  /** The name of the last migration of its objects. Absent: it has none. */
  migration?: string
  /** Secrets and variables that it has. */
  names: readonly string[]
}

/** wrangler prints it with what the API answers: "This Worker does not exist on your account." */
const NO_SUCH_WORKER = '[code: 10007]'

/** `said`: what wrangler printed in place of an answer. */
export async function deployedAs(
  name: string,
  run: WranglerRun,
): Promise<Deployed | { said: string }> {
  const status = await ask(['deployments', 'status'], name, run)
  if (status.code !== 0) {
    const said = `${status.out}${status.err}`
    return said.includes(NO_SUCH_WORKER) ? { isThere: false, names: [] } : { said }
  }
  const [version] = VERSION_ID.exec(status.out) ?? []
  if (version === undefined) return { said: status.out }
  const { code, out, err } = await ask(['versions', 'view', version], name, run)
  if (code !== 0) return { said: `${out}${err}` }
  const [, migration] = /"migration_tag":\s*"([^"]*)"/.exec(out) ?? []
  const names = Array.from(out.matchAll(/"name":\s*"([^"]*)"/g), ([, name = '']) => name)
  return { isThere: true, names, ...(migration !== undefined && { migration }) }
}

const VERSION_ID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/

/** JSON on its standard output, where it succeeds. */
async function ask(words: readonly string[], name: string, run: WranglerRun) {
  const child = start([...words, '--name', name, '--json'], run, ['ignore', 'pipe', 'pipe'])
  const said = { out: '', err: '' }
  child.stdout?.setEncoding('utf8').on('data', (part: string) => {
    said.out += part
  })
  child.stderr?.setEncoding('utf8').on('data', (part: string) => {
    said.err += part
  })
  return { code: await endOf(child), ...said }
}

/**
 * Deploys what is in the folder. What wrangler prints and asks goes to and from the terminal.
 * `workDir`: for what it writes of that. Resolves with its exit code, and the Worker's address.
 */
export async function deploy(
  name: string,
  args: readonly string[],
  run: WranglerRun,
  workDir: string,
): Promise<{ code: number; url: string | undefined }> {
  const outputFile = join(workDir, 'output.ndjson')
  const env = { ...run.env, WRANGLER_OUTPUT_FILE_PATH: outputFile }
  // What was set in the dashboard stays.
  const words = ['deploy', '--name', name, '--keep-vars', ...args]
  // Standard output is for our own lines.
  const code = await endOf(start(words, { ...run, env }, ['inherit', 2, 2]))
  return { code, url: code === 0 ? await deployedUrl(outputFile) : undefined }
}

/**
 * By what wrangler wrote.
 * @forTests Each kind of address, without a Worker.
 */
export async function deployedUrl(outputFile: string): Promise<string | undefined> {
  const text = (await textIn(outputFile)) ?? ''
  // Of a line that was cut off nothing is known; what follows a deployment happens all the same.
  const targets = text
    .split('\n')
    .flatMap((line) => (jsonIn(line) as { targets?: string[] } | undefined)?.targets ?? [])
  // With one, wrangler turns the address at workers.dev off.
  const [domain] = targets.flatMap((target) => /^(\S+) \(custom domain\b/.exec(target)?.[1] ?? [])
  return domain ? `https://${domain}` : targets.find((target) => target.startsWith('https://'))
}

/**
 * In the folder, wrangler would take a `wrangler.json` before the file that is shown, and a `.env`
 * that sends its user's token elsewhere, before anybody is asked; npx would take a package that
 * is there, and the registry of an `.npmrc`. So it starts elsewhere, with its files as arguments.
 */
function start(
  args: readonly string[],
  { wrangler, dir, env: given, signal }: WranglerRun,
  stdio: ('ignore' | 'pipe' | 'inherit' | number)[],
): ChildProcess {
  const files = ['--cwd', dir, '--config', join(dir, 'wrangler.toml'), '--env-file', devNull]
  const env = withAbsolutePath(given)
  const { command } = wrangler
  const program = isAbsolute(command) ? command : (findProgram(command, env.PATH) ?? command)
  const all = [...wrangler.args, ...args, ...files]
  const child = spawn(program, all, { cwd: parse(dir).root, env, stdio })
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
