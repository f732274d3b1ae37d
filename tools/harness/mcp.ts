// The official client of MCP over standard input and output, and calls of tools.

import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'

export interface StdioProgram {
  command: string
  args: string[]
  cwd: string
  env: Readonly<Record<string, string>>
}

/**
 * Close it: that ends the program. `version`: of the protocol; absent: it says `initialize`.
 */
export async function mcpOverStdio(program: StdioProgram, version?: string): Promise<Client> {
  const mode = version === undefined ? 'legacy' : { pin: version }
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } })
  await client.connect(new StdioClientTransport({ ...program, stderr: 'inherit' }))
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
