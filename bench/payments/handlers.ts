// What answers a gateway's callback, each started fresh on a database of its own.

import { join } from 'node:path'
import { shopHome } from '../../test/support/shop-home.ts'
import { startNode } from '../child.ts'
import { API_KEY } from './callbacks.ts'
import { ACCESS, type BenchDatabase, startDatabase } from './database.ts'
import { startBareEdge, startOurEdge } from './edge.ts'

/** `hanging-listener`: ours, in a shop whose listener never settles. */
export const HANDLERS = ['signalbox', 'hanging-listener', 'naive', 'no-database'] as const
export type HandlerName = (typeof HANDLERS)[number]

export interface Handler {
  pid: number
  port: number
  /** Undefined for the handler that stores nothing. */
  database?: BenchDatabase
  stop(): Promise<void>
}

const START_WAIT_MS = 20_000

export async function startHandler(name: HandlerName, dir: string): Promise<Handler> {
  if (name === 'no-database') return startBareEdge(dir)
  const database = await startDatabase(dir)
  try {
    const handler = await startOn(name, database, dir)
    const stop = async () => {
      await handler.stop()
      await database.stop()
    }
    return { pid: handler.pid, port: handler.port, database, stop }
  } catch (error) {
    await database.stop()
    throw error
  }
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
  name: Exclude<HandlerName, 'no-database'>,
  { url: databaseUrl }: BenchDatabase,
  dir: string,
) {
  if (name === 'signalbox') return startOurEdge(join(dir, 'edge'), { databaseUrl })
  if (name === 'hanging-listener') {
    const home = await shopHome(join(dir, 'home'), { config: HANGS })
    return startOurEdge(join(dir, 'edge'), { databaseUrl, home })
  }
  const args = [join(import.meta.dirname, 'naive.ts'), databaseUrl, ACCESS.token, API_KEY]
  const child = await startNode(args, /^naive ready /, START_WAIT_MS)
  return { ...child, port: Number(child.line.split(' ').at(-1)) }
}
