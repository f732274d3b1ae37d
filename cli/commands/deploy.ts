// Makes a Worker of one's own on Cloudflare, or brings it to this version.

import { realpath } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { edition } from '#edition'
import { readPlain } from '../../worker/shared/plain-file-node.ts'
import { makePrivateFolder } from '../../worker/shared/private-file-node.ts'
import { pathProblem } from '../../worker/shared/repos.ts'
import { define } from '../command.ts'
import type { Context, Environment } from '../context.ts'
import {
  type Choice,
  CONFIG_FILE,
  copyFolder,
  type EdgeFolder,
  edgeFiles,
  type FolderPlan,
  lookAtFolder,
  planFolder,
  recordFolder,
  writeFolder,
} from '../deploy/edge-folder.ts'
import {
  edgesFolder,
  keepSecret,
  newSecret,
  replaceSecret,
  type Signing,
  secretsOf,
  secretToSend,
  withSecretsFile,
  writeTokens,
} from '../deploy/secrets.ts'
import { report, summaryOf } from '../deploy/texts.ts'
import {
  chooseWrangler,
  type Deployed,
  deploy,
  deployedAs,
  type Wrangler,
  type WranglerRun,
} from '../deploy/wrangler.ts'
import { variablesIn } from '../environment.ts'
import { FAILED } from '../exit-codes.ts'
import { type OptionsOf, Setting } from '../setting.ts'
import { ENV } from '../settings.ts'
import { noticeTo } from '../terminal.ts'
import { type Input, missing, UsageError } from '../usage.ts'

const NAME = new Setting('--name <NAME>', 'of the Worker, and the first part of its address')
const BOARD = new Setting('--board <NAME>', 'of the board there')

const OPTIONS = [
  NAME,
  BOARD,
  new Setting('--payments', 'with payments: LIBSQL_URL and LIBSQL_AUTH_TOKEN are sent as secrets'),
  new Setting('--new-secret', 'sign by a new secret: all tokens and sessions end'),
  new Setting('--adopt', 'take over a folder that no run of yours made'),
  new Setting('--dry-run', 'build in a temporary folder, and upload nothing'),
  new Setting('--yes', 'ask nothing: run the wrangler that is named, and upload'),
  ENV,
] as const

type Options = OptionsOf<typeof OPTIONS>

export const command = define({
  argument: ['DIR', 'the folder of the Worker, which is made [signalbox-edge]'],
  usage: '[DIR] [--name NAME] [--board NAME] [--payments] [--dry-run]',
  description: `\
Puts an edge on Cloudflare, by wrangler: that of the project or of PATH. Code and secrets go
together, so it is never without access control. Before anything leaves the machine, it prints what
would, and asks. The folder holds the Worker; the secret, the tokens and what was chosen are in the
folder of the user's state, for their owner alone. Run it again to bring the Worker to this version:
it keeps the secret, and replaces only what it wrote.`,
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
  const kept = edgesFolder(env)
  const folder = await lookAtFolder(resolve(cwd, input.arguments[0] ?? 'signalbox-edge'), kept)
  if (folder.isForeign && !options.adopt) throw foreign(folder)
  const choice = await choose(input, context, folder.record)
  const plan = await planFolder(folder, await edgeFiles(packageDir, choice))
  for (const name of plan.left) {
    const now = relative(cwd, join(packageDir, 'examples/worker', name))
    noticeTo(io)(`${name} was changed by hand, and is left as it is. Compare it with ${now}.`)
  }
  const [first] = plan.added
  if (first !== undefined) {
    const others = plan.added.length > 1 ? ` (and ${plan.added.length - 1} more)` : ''
    noticeTo(io)(`${first}${others} is not of the package, and would go up with it.`)
  }
  const wrangler = await chooseWrangler(folder.dir, context, () => mayGo(options, 'Run it?', io))
  if (!wrangler) return FAILED
  const place = { folder, choice, plan, wrangler, kept: join(kept, choice.name) }
  const given = await variablesIn(options.env, env)
  return options.dryRun
    ? await rehearse(place, given, context)
    : await upload(place, options, given, context)
}

const foreign = ({ dir }: EdgeFolder) =>
  new UsageError(
    `${dir} was not made by a run of yours, and what is in it would go up with your secret: its ` +
      `${CONFIG_FILE}, its wrangler.toml and what they name. Read them; --adopt takes it over.`,
  )

interface Place {
  folder: EdgeFolder
  choice: Choice
  plan: FolderPlan
  wrangler: Wrangler
  /** What is kept of the edge of this name. */
  kept: string
}

/** All but the upload, on a copy: nothing that is kept changes. */
async function rehearse(
  { folder, choice, plan, wrangler, kept }: Place,
  given: Environment,
  { io, env }: Context,
): Promise<number> {
  const names = folder.record?.payments ? ['LIBSQL_URL'] : []
  const sent = await secretsOf({ choice, kept }, given, newSecret(), names)
  if (choice.payments && sent.LIBSQL_URL === undefined) {
    noticeTo(io)(`Whether ${choice.name} has LIBSQL_URL was not asked: a dry run asks nobody.`)
  }
  return await withSecretsFile(await realpath(tmpdir()), sent, async (workDir, secretArgs) => {
    const dir = join(workDir, basename(folder.dir))
    await copyFolder(folder.dir, dir)
    await writeFolder(dir, plan)
    await checkName(dir, choice)
    const run = { wrangler, dir, env, signal: io.shutdownSignal() }
    const { code } = await deploy(choice.name, [...secretArgs, '--dry-run'], run, workDir)
    if (code !== 0) return failed(code, run, io)
    io.out(`It would be at ${addressOf(choice)}\n`)
    return 0
  })
}

/** Writes the folder, shows what would leave the machine, and sends it if it may. */
async function upload(
  place: Place,
  options: Options,
  given: Environment,
  { io, env }: Context,
): Promise<number> {
  const { folder, choice, plan, wrangler, kept } = place
  makePrivateFolder(kept)
  await writeFolder(folder.dir, plan)
  await recordFolder(dirname(kept), folder, choice, plan)
  await checkName(folder.dir, choice)
  const run: WranglerRun = { wrangler, dir: folder.dir, env, signal: io.shutdownSignal() }
  const deployed = await findWorker(choice, run, io)
  if (!deployed) return FAILED
  const { isThere, names } = deployed
  const signing = await secretToSend(kept, { isThere, wantsNew: options.newSecret })
  const sent = await secretsOf(place, given, signing.secret, names)
  const summary = summaryOf({ ...place, deployed, isNew: signing.isNew, sent })
  for (const line of summary) noticeTo(io)(line)
  if (!(await mayGo(options, 'Deploy it?', io))) return FAILED
  return await send({ ...place, ...signing, sent }, run, io)
}

type Sending = Place & Signing & { sent: Readonly<Record<string, string>> }

/** If this process is ended meanwhile, the Worker may have either secret: both are kept. */
async function send(
  { choice, kept, sent, secret, isNew }: Sending,
  run: WranglerRun,
  io: Context['io'],
): Promise<number> {
  if (isNew && secret !== undefined) await keepSecret(kept, 'new-auth-secret', secret)
  const { NOTICE_SECRET: notices } = sent
  const noticeFile = notices && (await keepSecret(kept, 'notice-secret', notices))
  return await withSecretsFile(kept, sent, async (workDir, secretArgs) => {
    const { code, url } = await deploy(choice.name, secretArgs, run, workDir)
    if (code !== 0) return failed(code, run, io)
    if (isNew) await replaceSecret(kept)
    const { board } = choice
    const files = secret && (await writeTokens(kept, { secret, board, now: Date.now() }))
    io.out(report({ choice, url: url ?? addressOf(choice), files: files || undefined, noticeFile }))
    return 0
  })
}

const addressOf = ({ name }: Choice): string => `https://${name}.<your-account>.workers.dev`

function failed(code: number, { signal }: WranglerRun, io: Context['io']): number {
  noticeTo(io)(signal.aborted ? 'Ended.' : `wrangler failed (exit code ${code}): see its output.`)
  return FAILED
}

/** The file of its owner may name another Worker. Throws UsageError. */
async function checkName(dir: string, { name }: Choice): Promise<void> {
  const { text } = await readPlain(join(dir, 'wrangler.toml'))
  const [beforeTables = ''] = text.split(/^[ \t]*\[/m)
  const [, named = ''] = /^name\s*=\s*["']([^"']*)["']/m.exec(beforeTables) ?? []
  if (named === name) return
  throw new UsageError(
    `wrangler.toml has the name "${named}", and not ${name}: change one of them.`,
  )
}

/**
 * What Cloudflare has of the Worker. Undefined: it cannot be known; a sentence is printed. Throws
 * UsageError for one that no `signalbox deploy` made.
 */
async function findWorker(
  { name }: Choice,
  run: WranglerRun,
  io: Context['io'],
): Promise<Deployed | undefined> {
  const found = await deployedAs(name, run)
  if ('said' in found) {
    const what = `Whether there is a Worker ${name} is not known`
    noticeTo(io)(`${what}: nothing was deployed. Its output:`)
    io.err(`${found.said.trim()}\n`)
    return undefined
  }
  const { isThere, migration } = found
  if (!isThere || (migration !== undefined && MIGRATIONS.includes(migration))) return found
  const why =
    migration === undefined
      ? 'it has no objects'
      : `its objects have the migration ${migration}, not ${MIGRATIONS.at(-1)}`
  const ways = 'deploy it from where it was made, or choose another --name'
  throw new UsageError(`${name} was not made by signalbox deploy (${why}): ${ways}.`)
}

/** False: nobody wants it; a sentence is printed. */
async function mayGo({ yes }: Options, question: string, io: Context['io']): Promise<boolean> {
  if (yes || (await isYes(io, question))) return true
  noticeTo(io)(io.ask ? 'Nothing was deployed.' : 'Nothing was deployed: give --yes.')
  return false
}

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
