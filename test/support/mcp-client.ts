// The official client of MCP, at an edge under test.

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { type Claims, type Edge, token } from './edge.ts'

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

/** Calls a tool; a refusal is its problem. */
export async function callTool<Answer = Record<string, unknown>>(
  client: Client,
  name: string,
  asked: Record<string, unknown> = {},
): Promise<Answer & { text: string }> {
  const { content, structuredContent, isError } = await client.callTool({ name, arguments: asked })
  const [first] = content
  const text = first?.type === 'text' ? first.text : ''
  const answer = isError ? JSON.parse(text) : structuredContent
  return { ...(answer as Answer), text }
}
