// What answers a gateway's callback, each started fresh on a database of its own.

import { join } from 'node:path'
import { shopHome } from '../../harness/shop-home.ts'
import { startNode } from '../child.ts'
import { startOtherWorker, startOurEdge, startOurNodeEdge } from './bench-edge.ts'
import { API_KEY } from './callbacks.ts'
import {
  ACCESS,
  type BenchDatabase,
  type BenchStore,
  openStore,
  startDatabase,
} from './database.ts'

/**
 * `signalbox`: on workerd. `node`: in one process of Node. `hanging-listener`: on workerd, in a shop
 * whose listener never settles.
 */
export type HandlerName = 'signalbox' | 'node' | 'hanging-listener' | 'naive' | 'no-database'

export interface Handler {
  pid: number
  port: number
  /** Undefined for the handler that stores nothing. */
  database?: BenchStore
  /** The database server's, where there is one. */
  databasePid?: number
  stop(): Promise<void>
}

const START_WAIT_MS = 20_000

export async function startHandler(name: HandlerName, dir: string): Promise<Handler> {
  if (name === 'no-database') {
    const file = join(import.meta.dirname, 'bare-worker.ts')
    return startOtherWorker(file, dir, { variables: { API_KEY } })
  }
  if (name === 'node') return startNodeEdge(dir)
  const database = await startDatabase(dir)
  try {
    const handler = await startOn(name, database, dir)
    const stop = async () => {
      await handler.stop()
      await database.stop()
    }
    const { pid: databasePid } = database
    return { pid: handler.pid, port: handler.port, database, databasePid, stop }
  } catch (error) {
    await database.stop()
    throw error
  }
}

async function startNodeEdge(dir: string): Promise<Handler> {
  const { pid, port, file, ...edge } = await startOurNodeEdge(join(dir, 'edge'))
  const database = openStore(file)
  const stop = async () => {
    database.close()
    await edge.stop()
  }
  return { pid, port, database, stop }
}

const HANGS = `import { defineConfig } from './worker/payments/define-config.ts'

export default defineConfig({
  payments: {
    gateways: { redirect: { driver: 'redirect' } },
    listeners: { PaymentSucceeded: () => new Promise(() => undefined) },
  },
})
`

async function startOn(
  name: Exclude<HandlerName, 'no-database' | 'node'>,
  { url: databaseUrl }: BenchDatabase,
  dir: string,
) {
  if (name === 'signalbox') return startOurEdge(join(dir, 'edge'), { databaseUrl })
  if (name === 'hanging-listener') {
    const home = await shopHome(join(dir, 'home'), { config: HANGS })
    return startOurEdge(join(dir, 'edge'), { databaseUrl, home })
  }
  const args = [join(import.meta.dirname, 'naive.ts'), databaseUrl, ACCESS.token, API_KEY]
  const child = await startNode(args, /^naive ready /, { dir, waitMs: START_WAIT_MS })
  return { ...child, port: Number(child.line.split(' ').at(-1)) }
}
