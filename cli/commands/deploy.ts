// Makes a Worker of one's own on Cloudflare, or brings it to this version.

import { basename, join, relative, resolve } from 'node:path'
import { edition } from '#edition'
import { pathProblem } from '../../worker/shared/repos.ts'
import { define } from '../command.ts'
import {
  type Context,
  type Environment,
  type Input,
  missing,
  noticeTo,
  UsageError,
  VERSION,
  variablesIn,
} from '../context.ts'
import { type Choice, readRecord, writeEdgeFolder } from '../deploy/edge-folder.ts'
import {
  keptFolder,
  makeSecret,
  readSecret,
  type TokenFiles,
  withSecretsFile,
  writeTokens,
} from '../deploy/secrets.ts'
import {
  deploy,
  deployedAs,
  deployedUrl,
  findWrangler,
  NPX,
  type Wrangler,
  type WranglerRun,
} from '../deploy/wrangler.ts'
import { FAILED } from '../exit-codes.ts'
import { quote } from '../greeting.ts'
import { type OptionsOf, Setting } from '../setting.ts'
import { ENV } from '../settings.ts'

const NAME = new Setting('--name <NAME>', 'of the Worker, and the first part of its address')
const BOARD = new Setting('--board <NAME>', 'of the board there')

const OPTIONS = [
  NAME,
  BOARD,
  new Setting('--payments', 'with payments: LIBSQL_URL and LIBSQL_AUTH_TOKEN are sent as secrets'),
  new Setting('--new-secret', 'sign by a new secret: all tokens and sessions end'),
  new Setting('--dry-run', 'do all but the upload'),
  new Setting('--yes', 'download wrangler by npx where there is none'),
  ENV,
] as const

type Options = OptionsOf<typeof OPTIONS>

export const command = define({
  argument: ['DIR', 'the folder of the Worker, which is made [signalbox-edge]'],
  usage: '[DIR] [--name NAME] [--board NAME] [--payments] [--dry-run]',
  description: `\
Puts an edge on Cloudflare, by wrangler: that of the project or of PATH. Code and secrets go
together, so it is never without access control. The folder holds the Worker; the secret and the
tokens are in the folder of the user's state, for their owner alone. Run it again to bring the
Worker to this version: it asks nothing, and keeps the secret.`,
  options: OPTIONS,
  run,
})

/** Those of examples/worker/wrangler.toml. */
const MIGRATIONS: readonly string[] = ['edge-1']

async function run(input: Input<Options>, context: Context): Promise<number> {
  const { options } = input
  const { io, env, cwd } = context
  const { packageDir } = edition
  if (packageDir === undefined) {
    throw new UsageError('A clone deploys itself, with npx wrangler deploy: see docs/deploy.md.')
  }
  const notice = noticeTo(io)
  const dir = resolve(cwd, input.arguments[0] ?? 'signalbox-edge')
  const before = await readRecord(dir)
  const choice = await choose(input, context, before)
  const variables = await variablesIn(options.env, env)
  const secrets = databaseSecrets(choice, variables, before !== undefined)
  const wrangler = findWrangler([dir, cwd], env) ?? (await npx(options, context))
  if (!wrangler) return FAILED

  const signal = io.shutdownSignal()
  const kept = await keptFolder(choice.name, env)
  const wranglerRun: WranglerRun = { wrangler, dir, env, signal }
  for (const name of await writeEdgeFolder(dir, packageDir, choice)) {
    const now = relative(cwd, join(packageDir, 'examples/worker', name))
    notice(`${name} was changed by hand, and is left as it is. Compare it with ${now}.`)
  }
  const deployed = options.dryRun ? undefined : await deployedAs(choice.name, wranglerRun)
  const { migration } = deployed ?? {}
  if (migration !== undefined && !MIGRATIONS.includes(migration)) {
    const why = `its objects have the migration ${migration}, not ${MIGRATIONS.at(-1)}`
    const ways = 'deploy it from the clone that made it, or choose another --name'
    throw new UsageError(`${choice.name} was not made by signalbox deploy (${why}): ${ways}.`)
  }
  const known = await readSecret(kept)
  const isNew = options.newSecret || (known === undefined && !before && !deployed)
  const secret = isNew ? await makeSecret(kept) : known
  const sent = { ...secrets, ...(secret !== undefined && { AUTH_SECRETS: secret }) }
  return await withSecretsFile(kept, sent, async (workDir, secretsFile) => {
    const output = join(workDir, 'output.ndjson')
    const code = await deploy(argumentsOf(options, secretsFile), wranglerRun, output)
    if (code !== 0) {
      notice(signal.aborted ? 'Ended.' : `wrangler failed (exit code ${code}): see what it says.`)
      return FAILED
    }
    const { board } = choice
    const files = secret && (await writeTokens(kept, { secret, board, now: Date.now() }))
    const url = (await deployedUrl(output)) ?? `https://${choice.name}.<your-account>.workers.dev`
    io.out(report({ choice, url, files: files || undefined, isDry: options.dryRun === true }))
    return 0
  })
}

/** `--keep-vars`: what was set in the dashboard stays. */
const argumentsOf = ({ dryRun }: Options, secretsFile: string | undefined): string[] => [
  '--keep-vars',
  ...(secretsFile === undefined ? [] : ['--secrets-file', secretsFile]),
  ...(dryRun ? ['--dry-run'] : []),
]

/** What was typed, what the last run chose, or what the person at the terminal answers. */
export async function choose(
  { options }: Input<Options>,
  { io, cwd }: Context,
  before: Choice | undefined,
): Promise<Choice> {
  const answered = async (given: string | undefined, question: string, or: string) =>
    given ?? (io.ask && ((await io.ask(`${question} [${or}]: `)).trim() || or))
  const name = await answered(options.name ?? before?.name, 'Name of the Worker', 'signalbox')
  const board = await answered(options.board ?? before?.board, 'Name of the board', basename(cwd))
  if (name === undefined || board === undefined) {
    throw missing({ [NAME.flags]: name, [BOARD.flags]: board })
  }
  if (!/^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/.test(name)) {
    throw new UsageError(
      `--name: ${name} is no name of a Worker: a to z, 0 to 9 and dashes, at most 63.`,
    )
  }
  const problem = pathProblem(board)
  if (problem !== undefined) throw new UsageError(`--board: ${problem}`)
  const payments = options.payments ?? before?.payments ?? (await isYes(io, 'With payments?'))
  return { name, board, payments }
}

const isYes = async ({ ask }: Context['io'], question: string): Promise<boolean> =>
  /^y/i.test((await ask?.(`${question} [y/N]: `)) ?? '')

/** `isKnown`: the Worker may have them already. Throws UsageError. */
function databaseSecrets(
  { payments }: Choice,
  { LIBSQL_URL: url, LIBSQL_AUTH_TOKEN: authToken }: Environment,
  isKnown: boolean,
): Record<string, string> {
  if (!payments || (!url && isKnown)) return {}
  if (!url) throw missing({ 'LIBSQL_URL, the database of --payments': undefined })
  return { LIBSQL_URL: url, ...(authToken && { LIBSQL_AUTH_TOKEN: authToken }) }
}

/** Undefined: nobody wants it. */
async function npx({ yes }: Options, { io }: Context): Promise<Wrangler | undefined> {
  const line = [NPX.command, ...NPX.args].join(' ')
  const notice = noticeTo(io)
  notice(`There is no wrangler here. ${line} downloads the one that is tested with ${VERSION}.`)
  if (yes || (await isYes(io, 'Run it?'))) return NPX
  notice('Nothing was deployed: install wrangler, or say --yes.')
  return undefined
}

interface Report {
  choice: Choice
  url: string
  files: TokenFiles | undefined
  isDry: boolean
}

function report({ choice: { board, payments }, url, files, isDry }: Report): string {
  const lines = [`${isDry ? 'It would be' : 'The edge is'} at ${url}`]
  if (files) {
    const repo = `--repo ${quote(board)}`
    lines.push(
      `Token of the sidecar  ${files.sidecar}`,
      `Token for readers     ${files.reader}`,
      '',
      'Beside the files of the board:',
      `  signalbox watch . --edge ${url} ${repo} --token-file ${quote(files.sidecar)}`,
      `Then open ${url} and paste the token for readers.`,
    )
  } else {
    lines.push('Its secret is on another machine: the tokens that were made there stay valid.')
  }
  if (payments)
    lines.push('The tables of payments: LIBSQL_URL=… LIBSQL_AUTH_TOKEN=… signalbox migrate')
  return `${lines.join('\n')}\n`
}
