// MCP over HTTP: a server for each request, as the SDK has it. Loaded with the first one.

import { createMcpHandler } from '@modelcontextprotocol/server'
import type { Caller } from './caller.ts'
import { followTasks } from './resources.ts'
import { mcpServer } from './server.ts'
import { subscriptionIn } from './subscriptions.ts'

export interface McpRequest {
  /** Without its body. */
  request: Request
  /** JSON. */
  body: unknown
  caller: Caller
  version: string
}

export async function answerMcp({ request, body, caller, version }: McpRequest): Promise<Response> {
  const subscription = await subscriptionIn(body, caller)
  const handler = createMcpHandler(
    ({ era }) => mcpServer(caller, { version, subscribes: era === 'modern' }),
    {
      // One for each request: its events are of boards that this token covers.
      bus: {
        publish: () => undefined,
        subscribe(listener) {
          const end = new AbortController()
          const call = { caller, requestId: '', signal: end.signal }
          const changed = (uri: string) => listener({ kind: 'resource_updated', uri })
          // A stream that is refused ends the subscription, so that the client begins another.
          const again = async (error: unknown) => {
            throw error
          }
          const on = { changed, again }
          followTasks(call, subscription?.uris ?? [], on).catch(() => handler.close())
          return () => end.abort()
        },
      },
    },
  )
  return await handler.fetch(request, { parsedBody: subscription?.message ?? body })
}
