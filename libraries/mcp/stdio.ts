// MCP over standard input and output: one server for the connection, as the SDK has it.

import { setTimeout } from 'node:timers/promises'
import type { McpServer } from '@modelcontextprotocol/server'
import {
  type StdioServerHandle,
  StdioServerTransport,
  serveStdio,
} from '@modelcontextprotocol/server/stdio'
import { type Caller, Refused } from './caller.ts'
import { followTasks } from './resources.ts'
import { mcpServer } from './server.ts'
import { cancelledIn, subscriptionIn } from './subscriptions.ts'

const AGAIN_MS = 1_000

/** The SDK keeps the subscriptions by itself, and asks nobody what changed: they are read here. */
export function serveMcp(caller: Caller, version: string): StdioServerHandle {
  let server: McpServer | undefined
  const transport = new StdioServerTransport()
  const handle = serveStdio(
    ({ era }) => {
      server = mcpServer(caller, { version, subscribes: era === 'modern' })
      return server
    },
    { transport },
  )
  const followed = new Map<string | number, AbortController>()
  const follow = (id: string | number, uris: readonly string[]) => {
    const end = new AbortController()
    followed.get(id)?.abort()
    followed.set(id, end)
    const changed = (uri: string) =>
      void server?.server.sendResourceUpdated({ uri }).catch(caller.onError)
    const call = { caller, requestId: String(id), signal: end.signal }
    // The agent hears nothing of an end: an edge that is started again is heard again.
    const again = async (error: unknown) => {
      if (end.signal.aborted) return
      if (error instanceof Refused && error.problem.code !== 'unreachable') throw error
      await setTimeout(AGAIN_MS)
    }
    followTasks(call, uris, { changed, again }).catch(caller.onError)
  }

  const deliver = transport.onmessage
  let before = Promise.resolve()
  transport.onmessage = (message) => {
    // In their order: what a token covers may have to be asked for.
    before = before.then(async () => {
      const cancelled = cancelledIn(message)
      if (cancelled !== undefined) followed.get(cancelled)?.abort()
      const asked = await subscriptionIn(message, caller)
      deliver?.(asked ? asked.message : message)
      if (asked) follow(asked.id, asked.uris)
    })
    before = before.catch(caller.onError)
  }
  return {
    async close() {
      for (const end of followed.values()) end.abort()
      await handle.close()
    },
  }
}
