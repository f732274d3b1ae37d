// The official client of MCP, at an edge under test.

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { expect } from 'vitest'
import { type Claims, type Edge, type Repo, taskRecord, token } from './edge.ts'

/** Of now, and of a client that begins with `initialize`. */
export const VERSIONS = ['2026-07-28', '2025-11-25'] as const
export type Version = (typeof VERSIONS)[number]

export const WORKING = 'board:read board:work'

export interface McpCaller {
  claims?: Claims
  version?: Version
}

/** Close it. */
export async function mcpClient(
  edge: Edge,
  { claims = {}, version = VERSIONS[0] }: McpCaller = {},
): Promise<Client> {
  const bearer = await token({ scope: WORKING, ...claims })
  const mode = version === VERSIONS[0] ? { pin: version } : 'legacy'
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } })
  const transport = new StreamableHTTPClientTransport(new URL('/mcp', edge.origin), {
    fetch: (url, init) => edge.fetch(String(url).slice(edge.origin.length), init),
    requestInit: { headers: { Authorization: `Bearer ${bearer}` } },
  })
  await client.connect(transport)
  return client
}

export const uriOf = ({ path }: Repo, task: string): string =>
  `signalbox://${encodeURIComponent(path)}/${task}`

/** Subscribes to a task of both boards, of which the token is for the first alone. */
export async function hearsOwn(client: Client, [repo, other]: readonly [Repo, Repo]) {
  const heard = new Set<string>()
  client.setNotificationHandler('notifications/resources/updated', ({ params }) => {
    heard.add(params.uri)
  })
  const own = uriOf(repo, 'A-1')
  const asked = [own, uriOf(other, 'A-1')]
  const subscription = await client.listen({ resourceSubscriptions: asked })
  expect(subscription.honoredFilter).toEqual({ resourceSubscriptions: [own] })
  await expect
    .poll(async () => {
      await other.changes({ upserts: [taskRecord('A-1')] })
      await repo.changes({ upserts: [taskRecord('A-1'), taskRecord('A-3')] })
      return [...heard]
    })
    .toEqual([own])
  await subscription.close()
}
