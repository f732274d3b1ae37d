// What answers a gateway's callback, each started fresh on a database of its own.

import { join } from 'node:path'
import { startNode } from '../child.ts'
import { startOurEdge, startOurNodeEdge } from './bench-edge.ts'
import { API_KEY } from './callbacks.ts'
import { ACCESS, type BenchStore, openStore, startDatabase } from './database.ts'

/** `signalbox`: on workerd. `node`: in one process of Node. */
export type HandlerName = 'signalbox' | 'node' | 'naive'

export interface Handler {
  port: number
  database: BenchStore
  stop(): Promise<void>
}

const START_WAIT_MS = 20_000

export async function startHandler(name: HandlerName, dir: string): Promise<Handler> {
  if (name === 'node') return startNodeEdge(dir)
  const database = await startDatabase(dir)
  try {
    const handler = await startOn(name, database.url, dir)
    const stop = async () => {
      await handler.stop()
      await database.stop()
    }
    return { port: handler.port, database, stop }
  } catch (error) {
    await database.stop()
    throw error
  }
}

async function startNodeEdge(dir: string): Promise<Handler> {
  const { port, file, ...edge } = await startOurNodeEdge(join(dir, 'edge'))
  const database = openStore(file)
  const stop = async () => {
    database.close()
    await edge.stop()
  }
  return { port, database, stop }
}

async function startOn(name: 'signalbox' | 'naive', databaseUrl: string, dir: string) {
  if (name === 'signalbox') return startOurEdge(join(dir, 'edge'), { databaseUrl })
  const args = [join(import.meta.dirname, 'naive.ts'), databaseUrl, ACCESS.token, API_KEY]
  const child = await startNode(args, /^naive ready /, { dir, waitMs: START_WAIT_MS })
  return { ...child, port: Number(child.line.split(' ').at(-1)) }
}
