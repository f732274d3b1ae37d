// The folder of a Worker of one's own: made of the installed package, and made anew by each later
// version, but for what its owner changed. What this user's run wrote there is recorded outside of
// it: a folder that came with a repository says nothing about itself that is believed.

import { createHash, randomUUID } from 'node:crypto'
import { type Dirent, existsSync } from 'node:fs'
import {
  cp,
  lstat,
  mkdir,
  readdir,
  readFile,
  realpath,
  rename,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { basename, dirname, join, sep } from 'node:path'
import * as z from 'zod'
import manifest from '../../package.json' with { type: 'json' }
import { jsonIn } from '../../worker/shared/json.ts'
import { openPlain, textIn } from '../../worker/shared/plain-file-node.ts'
import { replacePrivateFile } from '../../worker/shared/private-file-node.ts'
import { VERSION } from '../context.ts'
import { UsageError } from '../usage.ts'
import { WRANGLER_VERSION } from './wrangler.ts'

/** What the last run chose, so that the next one asks nothing, and what it wrote. No secret. */
const RECORD = z.object({
  name: z.string(),
  board: z.string(),
  payments: z.boolean(),
  /** The signalbox that wrote the files. */
  version: z.string(),
  /** SHA-256 of each file as it was written, by its path in the folder. */
  files: z.record(z.string(), z.string()),
})
export type EdgeRecord = z.infer<typeof RECORD>
export type Choice = Pick<EdgeRecord, 'name' | 'board' | 'payments'>

/** Its owner writes it; what is in it goes up with the secret. */
export const CONFIG_FILE = 'signalbox.config.js'
/** The copy of the package. */
const COPY = 'signalbox'

const INDEX = `\
// Written by \`signalbox deploy\`. Gateways and listeners of your own: signalbox.config.js.

import { signalbox } from './signalbox/worker.js'
import config from './signalbox.config.js'

const edge = signalbox(config)

export default edge.handler
export const { RepositoryObject, LedgerObject, SessionsObject, DirectoryObject, Dispatcher } = edge
`

const { bindings } = manifest.cloudflare
const { AUTH_SECRETS, REPOSITORY, LEDGER, SESSIONS, DIRECTORY, ASSETS } = bindings

const PACKAGE = `${JSON.stringify(
  {
    private: true,
    type: 'module',
    scripts: { deploy: 'wrangler deploy' },
    devDependencies: { wrangler: WRANGLER_VERSION },
    cloudflare: {
      bindings: { AUTH_SECRETS, REPOSITORY, LEDGER, SESSIONS, DIRECTORY, ASSETS },
    },
  },
  null,
  2,
)}\n`

const CONFIG = `\
// Yours: \`signalbox deploy\` writes it once. What can be here is in docs/payments.md of the
// package.

export default {}
`

/** The configuration of examples/worker, for a Worker of this name and a copy of the package. */
const configOf = (example: string, { name }: Choice): string =>
  example
    .replace(/^name = .*$/m, `name = ${JSON.stringify(name)}`)
    .replace(/^main = .*$/m, 'main = "index.js"')
    .replace('node_modules/signalbox/console', 'signalbox/console')

const hashOf = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')

/** What is known of a folder before anything is written. */
export interface EdgeFolder {
  /** Its real path: links above it are followed, and it is none itself. */
  dir: string
  /** Of this user's last run. */
  record: EdgeRecord | undefined
  /** It has files, and no run of this user made it. */
  isForeign: boolean
}

/** `kept`: where records are. Throws UsageError for a link, or what is no folder. */
export async function lookAtFolder(path: string, kept: string): Promise<EdgeFolder> {
  const dir = join(await realAbove(dirname(path)), basename(path))
  const stats = await lstat(dir).catch(() => undefined)
  if (stats && !stats.isDirectory()) throw new UsageError(`${dir} is a link, or no folder.`)
  const { data: record } = RECORD.safeParse(jsonIn(await textIn(recordFile(kept, dir))))
  const isForeign = !record && stats !== undefined && (await readdir(dir)).length > 0
  return { dir, record, isForeign }
}

/** Of a folder that is still to be made, by what is there of it. */
const realAbove = (path: string): Promise<string> =>
  realpath(path).catch(async () => join(await realAbove(dirname(path)), basename(path)))

const recordFile = (kept: string, dir: string): string =>
  join(kept, `${hashOf(Buffer.from(dir))}.json`)

/** Path in the folder → bytes, as a first run would write them. */
export type EdgeFiles = ReadonlyMap<string, Buffer>

/** From the package in `packageDir`. */
export async function edgeFiles(packageDir: string, choice: Choice): Promise<EdgeFiles> {
  const example = await readFile(join(packageDir, 'examples/worker/wrangler.toml'), 'utf8')
  const written = {
    'package.json': PACKAGE,
    '.gitignore': 'node_modules\n.wrangler\n.dev.vars\n',
    // What Cloudflare's button asks for, if the folder is the repository of a template.
    '.dev.vars.example': 'AUTH_SECRETS=\n',
    'index.js': INDEX,
    'wrangler.toml': configOf(example, choice),
    [CONFIG_FILE]: CONFIG,
  }
  const files = new Map(Object.entries(written).map(([name, text]) => [name, Buffer.from(text)]))
  for (const name of ['worker.js', 'LICENSES.txt', ...(await filesBelow(packageDir, 'console'))]) {
    files.set(`${COPY}/${name}`, await readFile(join(packageDir, name)))
  }
  return files
}

async function filesBelow(dir: string, folder: string): Promise<string[]> {
  const entries = await readdir(join(dir, folder), { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(dir.length + 1))
    .map((name) => name.replaceAll(sep, '/'))
}

/** What a run does in a folder. */
export interface FolderPlan {
  write: EdgeFiles
  remove: readonly string[]
  /** What somebody changed, and is left as it is. */
  left: readonly string[]
  /** What is in the copy of the package, and not of it: it goes up with it. */
  added: readonly string[]
  /** SHA-256 by name, for the record. */
  hashes: Readonly<Record<string, string>>
  /** Its owner's file is not as a first run writes it. */
  isConfigured: boolean
}

/**
 * Only what the last run wrote is replaced. In a folder that is adopted the copy of the package is,
 * too: else the code of somebody else would go up as ours. Throws UsageError where a link stands in
 * the way.
 */
export async function planFolder(folder: EdgeFolder, files: EdgeFiles): Promise<FolderPlan> {
  const { dir, record } = folder
  const before = record?.files ?? {}
  const there = await filesIn(dir)
  const isReplaced = (name: string, hash: string) =>
    hash === before[name] || (folder.isForeign && name.startsWith(`${COPY}/`))
  const write = new Map<string, Buffer>()
  const left: string[] = []
  const hashes: Record<string, string> = {}
  for (const [name, bytes] of files) {
    const found = await readHere(dir, name)
    const hash = found && hashOf(found)
    if (hash === undefined || isReplaced(name, hash) || found?.equals(bytes)) {
      write.set(name, bytes)
      hashes[name] = hashOf(bytes)
    } else {
      if (name !== CONFIG_FILE) left.push(name)
      hashes[name] = before[name] ?? ''
    }
  }
  const remove: string[] = []
  for (const name of Object.keys(before)) {
    const found = files.has(name) ? undefined : await readHere(dir, name)
    if (found && hashOf(found) === before[name]) remove.push(name)
  }
  const isAdded = (name: string) =>
    name.startsWith(`${COPY}/`) && !files.has(name) && !remove.includes(name)
  const added = there.filter(isAdded)
  return { write, remove, left, added, hashes, isConfigured: !write.has(CONFIG_FILE) }
}

/** What belongs to other programs, which make links there. */
const OF_OTHERS = new Set(['node_modules', '.wrangler', '.git'])

/**
 * The names of all files in the folder. Throws UsageError for a link: wrangler would send what it
 * leads to, and as a part of the page for everybody.
 */
async function filesIn(dir: string, below = ''): Promise<string[]> {
  const entries = await readdir(join(dir, below), { withFileTypes: true }).catch((): Dirent[] => [])
  const names = entries.map(async (entry): Promise<string[]> => {
    const name = below + entry.name
    if (OF_OTHERS.has(entry.name)) return []
    if (entry.isDirectory()) return await filesIn(dir, `${name}/`)
    if (entry.isFile()) return [name]
    throw new UsageError(`${join(dir, name)} is a link, or no file that could be deployed.`)
  })
  return (await Promise.all(names)).flat()
}

/** Undefined: there is no such file. Throws UsageError for a link on the way, or no plain file. */
async function readHere(dir: string, name: string): Promise<Buffer | undefined> {
  const parts = name.split('/')
  for (let n = 1; n <= parts.length; n++) {
    const path = join(dir, ...parts.slice(0, n))
    const stats = await lstat(path).catch(() => undefined)
    if (!stats) return undefined
    const isRight = n < parts.length ? stats.isDirectory() : stats.isFile()
    if (!isRight) throw new UsageError(`${path} is a link, or not what a deployment writes there.`)
  }
  const { handle } = await openPlain(join(dir, name))
  await using file = handle
  return await file.readFile()
}

/**
 * Writes the folder, which is named by its real path; each file is replaced whole, so that no link
 * is followed. Throws UsageError.
 */
export async function writeFolder(dir: string, { write, remove }: FolderPlan): Promise<void> {
  for (const [name, bytes] of write) {
    const path = join(dir, name)
    await mkdir(dirname(path), { recursive: true })
    // It was looked at before somebody was asked, and a link may be there since.
    await refuseLinked(dirname(path))
    const fresh = `${path}.${randomUUID()}.tmp`
    await writeFile(fresh, bytes, { flag: 'wx' })
    await rename(fresh, path)
  }
  for (const name of remove) {
    await refuseLinked(dirname(join(dir, name)))
    await rm(join(dir, name))
  }
}

/**
 * A copy, to build a Worker's folder without touching it. `to` is a new folder. What is imported is
 * found where `from` would find it.
 */
export async function copyFolder(from: string, to: string): Promise<void> {
  await mkdir(to)
  if (existsSync(from)) {
    await cp(from, to, { recursive: true, filter: (path) => !OF_OTHERS.has(basename(path)) })
  }
  const modules = modulesAbove(from)
  if (modules !== undefined) await symlink(modules, join(to, 'node_modules'))
}

function modulesAbove(dir: string): string | undefined {
  const modules = join(dir, 'node_modules')
  if (existsSync(modules)) return modules
  return dirname(dir) === dir ? undefined : modulesAbove(dirname(dir))
}

/** Throws UsageError for a folder that is behind a link. */
async function refuseLinked(dir: string): Promise<void> {
  if ((await realpath(dir)) !== dir) throw new UsageError(`${dir} is behind a link.`)
}

export async function recordFolder(
  kept: string,
  { dir }: EdgeFolder,
  choice: Choice,
  { hashes: files }: FolderPlan,
): Promise<void> {
  const record: EdgeRecord = { ...choice, version: VERSION, files }
  await replacePrivateFile(recordFile(kept, dir), `${JSON.stringify(record, null, 2)}\n`)
}
