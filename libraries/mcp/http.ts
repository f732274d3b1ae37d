// MCP over HTTP: a server for each request, as the SDK has it. Loaded with the first one.

import { createMcpHandler, type ServerEvent } from '@modelcontextprotocol/server'
import * as z from 'zod'
import type { Caller } from './caller.ts'
import { followTasks, namedIn } from './resources.ts'
import { mcpServer } from './server.ts'

export interface McpRequest {
  /** Without its body. */
  request: Request
  /** JSON. */
  body: unknown
  caller: Caller
  /** Whether the token is for this board. */
  covers(board: string): boolean
  version: string
}

export async function answerMcp(asked: McpRequest): Promise<Response> {
  const { request, body, caller, covers, version } = asked
  const listening = subscriptionIn(body)
  const uris = listening?.params.notifications.resourceSubscriptions.filter((uri) =>
    covers(namedIn(uri)?.board ?? ''),
  )
  const parsedBody = uris ? listening && withUris(listening, uris) : body
  const handler = createMcpHandler(
    ({ era }) => mcpServer(caller, { version, subscribes: era === 'modern' }),
    {
      onerror: () => undefined,
      // One for each request: it hears what this token may, and nobody else's.
      bus: {
        publish: () => undefined,
        subscribe(listener) {
          const end = new AbortController()
          const call = { caller, requestId: '', signal: end.signal }
          const changed = (uri: string) =>
            listener({ kind: 'resource_updated', uri } as ServerEvent)
          // A stream that is refused ends the subscription, so that the client begins another.
          followTasks(call, uris ?? [], changed).catch(() => handler.close())
          return () => end.abort()
        },
      },
    },
  )
  return await handler.fetch(request, { parsedBody })
}

const subscriptionSchema = z.looseObject({
  method: z.literal('subscriptions/listen'),
  params: z.looseObject({
    notifications: z.looseObject({ resourceSubscriptions: z.array(z.string()) }),
  }),
})
type Subscription = z.output<typeof subscriptionSchema>

const subscriptionIn = (body: unknown): Subscription | undefined =>
  subscriptionSchema.safeParse(body).data

/** What it is acknowledged for. */
const withUris = ({ params, ...message }: Subscription, resourceSubscriptions: string[]) => ({
  ...message,
  params: { ...params, notifications: { ...params.notifications, resourceSubscriptions } },
})
