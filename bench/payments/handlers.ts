// The three that answer a gateway's callback, each started fresh on a database of its own.

import { join } from 'node:path'
import { startNode } from '../child.ts'
import { API_KEY } from './callbacks.ts'
import { ACCESS, type BenchDatabase, startDatabase } from './database.ts'
import { startBareEdge, startOurEdge } from './edge.ts'

export const HANDLERS = ['signalbox', 'naive', 'no-database'] as const
export type HandlerName = (typeof HANDLERS)[number]

export interface Handler {
  pid: number
  port: number
  /** Missing where nothing is stored. */
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

async function startOn(name: 'signalbox' | 'naive', { url }: BenchDatabase, dir: string) {
  if (name === 'signalbox') return startOurEdge(join(dir, 'edge'), { databaseUrl: url })
  const args = [join(import.meta.dirname, 'naive.ts'), url, ACCESS.token, API_KEY]
  const child = await startNode(args, /^naive ready /, START_WAIT_MS)
  return { ...child, port: Number(child.line.split(' ').at(-1)) }
}
