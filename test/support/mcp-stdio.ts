// The official client of MCP over standard input and output. workerd ends where it is imported.

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
