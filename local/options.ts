// What `npm start` can be asked for: arguments to options, or a sentence that refuses them.
// Pure: nothing is looked up on disk here.

import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { pathProblem } from '../worker/board/repository-path.ts'

/** Where all stands unless another folder is named. */
export const DATA_DIR = '.signalbox'

export type Host = 'workerd' | 'deno'

export interface StartOptions {
  /** Folder of the board, absolute. */
  storeDir: string
  /** The repository's name at the edge. */
  repo: string
  /** 0: any free port. */
  port: number
  /** Everything that this system writes stands in here; absolute. */
  dataDir: string
  host: Host
}

export type ParsedOptions =
  | { kind: 'options'; options: StartOptions }
  | { kind: 'help' }
  | { kind: 'refused'; sentence: string }

export const HELP = `\
Runs all of Signalbox on this machine: the edge, its database, the sidecar of one board and a
simulator of payment gateways. REDIRECT_GATEWAY_*, FIB_* and STRIPE_* variables put the real
gateway in its place, each by itself; PAYMENT_* are passed on.

  npm start -- [options]

  --store DIR    folder of the task board            (examples/board)
  --repo NAME    name of the repository at the edge  (the absolute path of DIR)
  --port N       port of the edge, 0: any free one   (8787)
  --data DIR     folder for everything it writes     (${DATA_DIR})
  --host HOST    what runs the edge: workerd or deno (workerd)
  --help         this text

Everything listens on 127.0.0.1 alone. What a program needs to talk to it stands in
DIR/local.json of the data folder, the log of each process in DIR/logs.
Exit: 0 after SIGINT or SIGTERM, 1 when a process kept dying, 2 when it could not start.
`

const FLAGS = {
  store: { type: 'string' },
  repo: { type: 'string' },
  port: { type: 'string', default: '8787' },
  data: { type: 'string', default: DATA_DIR },
  host: { type: 'string', default: 'workerd' },
  help: { type: 'boolean', default: false },
} as const

/** `cwd`: what relative folders are relative to; `home`: the folder that holds `examples/`. */
export function parseOptions(args: string[], cwd: string, home: string): ParsedOptions {
  const read = readFlags(args)
  if (!read.ok) return refused(read.why)
  const { store, repo, port, data, host, help } = read.values
  if (help) return { kind: 'help' }
  if (store === '') return refused('--store needs a folder.')
  if (data === '') return refused('--data needs a folder.')
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535) {
    return refused(`--port must be a whole number from 0 to 65535, not "${port}".`)
  }
  if (host !== 'workerd' && host !== 'deno') {
    return refused(`--host must be workerd or deno, not "${host}".`)
  }
  const storeDir = store === undefined ? join(home, 'examples/board') : resolve(cwd, store)
  const name = repo ?? storeDir
  const problem = pathProblem(name)
  if (problem !== undefined) return refused(`--repo names no repository: ${problem}`)
  const dataDir = resolve(cwd, data)
  return { kind: 'options', options: { storeDir, repo: name, port: Number(port), dataDir, host } }
}

const refused = (sentence: string): ParsedOptions => ({ kind: 'refused', sentence })

function readFlags(args: string[]) {
  try {
    return { ok: true, values: parseArgs({ args, options: FLAGS, strict: true }).values } as const
  } catch (error) {
    // parseArgs writes several sentences, with advice on `--` that would mislead behind npm's own.
    const [why] = error instanceof Error ? error.message.split(/(?<=\.)\s|\. /, 1) : []
    return { ok: false, why: `${(why ?? 'The options are wrong').replace(/\.$/, '')}.` } as const
  }
}
