// The server of MCP: the tools, and what the SDK needs to know of them.

import { type CallToolResult, McpServer } from '@modelcontextprotocol/server'
import type * as z from 'zod'
import { checkFields } from '../../worker/shared/fields.ts'
import { BOARD_TOOLS } from './board-tools.ts'
import { ask, boardOf, type Call, type Caller, type Refusal, Refused } from './caller.ts'
import { claimTools } from './claim-tools.ts'
import { RECIPE } from './recipe.ts'
import { addTasks } from './resources.ts'
import type { Tool } from './tool.ts'
import { waitForChange } from './wait-tool.ts'

export interface ServerOptions {
  version: string
  /** The protocol has subscriptions, and the boards are followed for them. */
  subscribes: boolean
}

export function mcpServer(caller: Caller, { version, subscribes }: ServerOptions): McpServer {
  const server = new McpServer(
    { name: 'signalbox', title: 'Signalbox', version },
    {
      instructions: RECIPE,
      capabilities: {
        tools: { listChanged: false },
        resources: { listChanged: false, ...(subscribes && { subscribe: true }) },
      },
    },
  )
  for (const tool of [...BOARD_TOOLS, ...claimTools(caller), waitForChange]) {
    const { name, title, description, reads, output } = tool
    const config = {
      title,
      description,
      inputSchema: unchecked(tool.input),
      outputSchema: output,
      annotations: { readOnlyHint: reads, destructiveHint: false, openWorldHint: false },
    }
    server.registerTool(name, config, (asked, { mcpReq }) =>
      answerOf(tool, asked, { caller, requestId: String(mcpReq.id), signal: mcpReq.signal }),
    )
  }
  addTasks(server, caller)
  return server
}

/** What it takes is listed by the SDK, and checked here: in our words, with our code. */
const unchecked = ({ '~standard': { jsonSchema } }: z.ZodObject) => ({
  '~standard': {
    version: 1 as const,
    vendor: 'signalbox',
    validate: (value: unknown) => ({ value }),
    jsonSchema,
  },
})

async function answerOf(tool: Tool, asked: unknown, call: Call): Promise<CallToolResult> {
  const checked = checkFields(tool.input, asked)
  if (!checked.ok) return refused({ error: checked.error, code: 'invalid_request' })
  try {
    const { board, claim } = checked.value as { board?: string; claim?: string }
    if (tool.reads && claim !== undefined) {
      await ask(call, '/claims/renew', { board: await boardOf(call, board), body: { claim } })
    }
    const answer = await tool.run(checked.value, call)
    return {
      content: [{ type: 'text', text: tool.text(answer) }],
      structuredContent: { ...answer },
    }
  } catch (error) {
    if (error instanceof Refused) return refused(error.problem)
    if (!call.signal.aborted) call.caller.onError(error)
    return refused({ error: 'Something failed on our side.', code: 'internal' })
  }
}

const refused = (problem: Refusal): CallToolResult => ({
  content: [{ type: 'text', text: JSON.stringify(problem) }],
  isError: true,
})
