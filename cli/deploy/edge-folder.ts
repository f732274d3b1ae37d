// The folder of a Worker of one's own: made of the installed package, and made anew by each later
// version, but for what its owner changed.

import { createHash } from 'node:crypto'
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as z from 'zod'
import manifest from '../../package.json' with { type: 'json' }
import { VERSION } from '../context.ts'
import { WRANGLER_VERSION } from './wrangler.ts'

/** What the last run chose, so that the next one asks nothing. No secret. */
const RECORD = z.object({
  name: z.string(),
  board: z.string(),
  payments: z.boolean(),
  /** The signalbox that wrote the files. */
  version: z.string(),
  /** SHA-256 of each file as it was written. */
  files: z.record(z.string(), z.string()),
})
export type EdgeRecord = z.infer<typeof RECORD>
export type Choice = Pick<EdgeRecord, 'name' | 'board' | 'payments'>

const RECORD_FILE = 'signalbox.json'

/** What the last run wrote there. Undefined: it was not made by a run. */
export async function readRecord(dir: string): Promise<EdgeRecord | undefined> {
  const text = await readFile(join(dir, RECORD_FILE), 'utf8').catch(() => undefined)
  try {
    return text === undefined ? undefined : RECORD.parse(JSON.parse(text))
  } catch {
    return undefined
  }
}

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

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex')

/**
 * Writes the folder, from the package in `packageDir`. Returns what somebody changed, which is left
 * as it is.
 */
export async function writeEdgeFolder(
  dir: string,
  packageDir: string,
  choice: Choice,
): Promise<readonly string[]> {
  const before = await readRecord(dir)
  const copy = join(dir, 'signalbox')
  await mkdir(dir, { recursive: true })
  await rm(copy, { recursive: true, force: true })
  for (const name of ['worker.js', 'console', 'LICENSES.txt']) {
    await cp(join(packageDir, name), join(copy, name), { recursive: true })
  }
  const example = await readFile(join(packageDir, 'examples/worker/wrangler.toml'), 'utf8')
  const fresh = {
    'package.json': PACKAGE,
    '.gitignore': 'node_modules\n.wrangler\n.dev.vars\n',
    // What Cloudflare's button asks for, if the folder is the repository of a template.
    '.dev.vars.example': 'AUTH_SECRETS=\n',
    'index.js': INDEX,
    'wrangler.toml': configOf(example, choice),
    'signalbox.config.js': CONFIG,
  }
  const files: Record<string, string> = {}
  const left: string[] = []
  for (const [name, text] of Object.entries(fresh)) {
    const path = join(dir, name)
    const found = await readFile(path, 'utf8').catch(() => undefined)
    const isOurs = found === undefined || hashOf(found) === before?.files[name] || found === text
    if (isOurs) await writeFile(path, text)
    else if (name !== 'signalbox.config.js') left.push(name)
    files[name] = isOurs ? hashOf(text) : (before?.files[name] ?? '')
  }
  const record: EdgeRecord = { ...choice, version: VERSION, files }
  await writeFile(join(dir, RECORD_FILE), `${JSON.stringify(record, null, 2)}\n`)
  return left
}
