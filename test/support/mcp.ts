// Calls of the tools of MCP. It loads under workerd, too, which has no processes.

import type { Client } from '@modelcontextprotocol/client'

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
