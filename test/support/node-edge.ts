// The edge of the Node host in this process, on a real port, with its payments in a file.

import { appendFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import signalbox from '../../signalbox.config.ts'
import { prepareSchema } from '../../system/migrate.ts'
import { freePort } from '../../tools/harness/free-port.ts'
import { type NodeEdge, openNodeEdge } from '../../worker/node.ts'
import type { SignalboxFile } from '../../worker/payments/define-config.ts'
import { lineLog } from '../../worker/shared/log.ts'
import { type Edge, SECRET } from './edge.ts'
import { documentedFetch } from './openapi-operations.ts'

export interface NodeEdgeInTest extends Edge {
  /** Its data and log. */
  dir: string
  edge(): NodeEdge
  /** Ends it gracefully, and starts it again with the same port and files. */
  restart(): Promise<void>
  close(): Promise<void>
}

type Variables = Readonly<Record<string, string>>

interface NodeEdgePlan {
  file?: SignalboxFile
  consoleDir?: string
  sweepEveryMs?: number
  stopWithinMs?: number
}

/** Some variables contain the URL of the edge, which is known only now. */
export async function startNodeEdge(
  variables: Variables | ((origin: string) => Variables) = {},
  { file = signalbox, consoleDir, ...more }: NodeEdgePlan = {},
): Promise<NodeEdgeInTest> {
  const dir = await mkdtemp(join(tmpdir(), 'signalbox-node-'))
  const port = await freePort()
  const origin = `http://127.0.0.1:${port}`
  const env = {
    ...{ AUTH_SECRETS: SECRET, LIBSQL_URL: `file:${join(dir, 'payments.db')}` },
    ...(typeof variables === 'function' ? variables(origin) : variables),
    ...{ PORT: String(port), DATA_DIR: dir, CONSOLE_DIR: consoleDir ?? join(dir, 'console') },
  }
  const log = lineLog((line) => appendFileSync(join(dir, 'edge.log'), `${line}\n`))
  const open = () => openNodeEdge({ env, file, log, schema: prepareSchema, ...more })
  let edge = await open()
  return {
    origin,
    dir,
    edge: () => edge,
    fetch: documentedFetch(origin),
    async restart() {
      await edge.close()
      edge = await open()
    },
    async close() {
      await edge.close()
      await rm(dir, { recursive: true, force: true })
    },
  }
}
