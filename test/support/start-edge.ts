// An edge on a real port: in a process of its own, on workerd, Deno or Node, or Node's in this one.

import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import signalbox from '../../signalbox.config.ts'
import { prepareSchema } from '../../system/database/migrate.ts'
import { loopbackUrl } from '../../system/local/ports.ts'
import { freePort } from '../../tools/harness/free-port.ts'
import { type Host, PREPARE } from '../../tools/harness/hosts.ts'
import { Process } from '../../tools/harness/process.ts'
import { type NodeEdge, openNodeEdge } from '../../worker/node.ts'
import type { SignalboxFile } from '../../worker/payments/define-config.ts'
import { createLog } from '../../worker/shared/log.ts'
import { type Edge, NOTICE_SECRET, SECRET } from './edge.ts'
import { documentedFetch } from './openapi-operations.ts'
import { programEnv } from './run-home.ts'
import { tempFolder } from './temp-folder.ts'

interface StartedEdge extends Edge {
  /** Its data, log and script. */
  dir: string
  close(): Promise<void>
}

export interface EdgeProcess extends StartedEdge {
  /** The process id of the runtime. */
  pid(): number | undefined
  /** Kills the process (SIGKILL) and starts it again, with the same port and data. */
  crash(whileDown?: () => Promise<void>): Promise<void>
}

export interface NodeEdgeInTest extends StartedEdge {
  edge(): NodeEdge
  /** Ends it gracefully, and starts it again with the same port and files. */
  restart(): Promise<void>
}

export type Variables = Readonly<Record<string, string>>
/** Some variables contain the URL of the edge, which is known only now. */
type Given = Variables | ((origin: string) => Variables)

async function prepare(given: Given) {
  const dir = tempFolder()
  const port = await freePort()
  const origin = loopbackUrl(port)
  const own = typeof given === 'function' ? given(origin) : given
  return { dir, port, origin, variables: { AUTH_SECRETS: SECRET, NOTICE_SECRET, ...own } }
}

const started = (origin: string, dir: string, end: () => Promise<void>): StartedEdge => ({
  origin,
  dir,
  fetch: documentedFetch(origin),
  async close() {
    await end()
  },
})

/** `consoleDir`: the folder of the built page. `home`: the folder of the product. */
export async function startEdge(
  host: Host,
  given: Given = {},
  { home = process.cwd(), ...more }: { consoleDir?: string; home?: string } = {},
): Promise<EdgeProcess> {
  const { dir, port, origin, variables } = await prepare(given)
  const spec = await PREPARE[host]({
    port,
    dir,
    home,
    variables,
    ...more,
    env: programEnv(dir),
    logFile: join(dir, 'edge.log'),
  })
  const edge = new Process(spec, origin)
  await edge.start()
  return {
    ...started(origin, dir, () => edge.stop()),
    pid: () => edge.pid,
    async crash(whileDown) {
      await edge.kill()
      await whileDown?.()
      await edge.start()
    },
  }
}

interface NodeEdgePlan {
  file?: SignalboxFile
  consoleDir?: string
  sweepEveryMs?: number
  stopWithinMs?: number
}

/** Its payments are in a file. */
export async function startNodeEdge(
  given: Given = {},
  { file = signalbox, consoleDir, ...more }: NodeEdgePlan = {},
): Promise<NodeEdgeInTest> {
  const { dir, port, origin, variables } = await prepare(given)
  const env = {
    LIBSQL_URL: `file:${join(dir, 'payments.db')}`,
    ...variables,
    PORT: String(port),
    DATA_DIR: dir,
    CONSOLE_DIR: consoleDir ?? join(dir, 'console'),
  }
  const log = createLog('json', (line) => appendFileSync(join(dir, 'edge.log'), line))
  const open = () => openNodeEdge({ env, file, log, schema: prepareSchema, ...more })
  let edge = await open()
  return {
    ...started(origin, dir, () => edge.close()),
    edge: () => edge,
    async restart() {
      await edge.close()
      edge = await open()
    },
  }
}
