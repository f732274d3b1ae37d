// An agent that has the tools of MCP, and no command of ours: it claims, does and releases tasks.

import { setTimeout as sleep } from 'node:timers/promises'
import { callTool } from '../mcp.ts'
import { mcpOverStdio, type StdioProgram } from '../mcp-stdio.ts'

export interface McpAgent {
  name: string
  /** `signalbox mcp`. */
  program: StdioProgram
  /** It ends when it has done as many. */
  tasks: number
  /** The tool of the board. */
  tool: Record<'mark' | 'close', (task: string) => Promise<unknown>>
  note(line: string): Promise<void>
  /** It ends at once. */
  signal: AbortSignal
}

const VERSION = '2026-07-28'
const WAIT_S = 50
const AGAIN_MS = 100

interface Answer {
  code?: string
  claim?: string
  task?: { id: string }
}

/** Resolves with how many it has done. */
export async function workOverMcp(agent: McpAgent): Promise<number> {
  const { name, program, tasks, tool, note, signal } = agent
  const client = await mcpOverStdio(program, VERSION)
  const end = () => void client.close()
  signal.addEventListener('abort', end)
  let done = 0
  try {
    /** Again until a Signalbox answers: it may be starting. */
    const call = async (toolName: string, asked: object): Promise<Answer> => {
      for (; ; await sleep(AGAIN_MS)) {
        const answer = await callTool<Answer>(client, toolName, { ...asked })
        if (answer.code !== 'unreachable' || signal.aborted) return answer
      }
    }
    while (done < tasks && !signal.aborted) {
      await note(`asks ${name}`)
      const given = await call('claim_task', { agent: name, wait_seconds: WAIT_S })
      // A refusal names a task, too.
      if (given.code !== undefined || !given.task) continue
      const { claim, task } = given
      await tool.mark(task.id)
      await note(`begun ${task.id} ${name}`)
      const { code } = await call('renew_claim', { claim, progress: 'kneading' })
      if (code) {
        await note(`left ${task.id} ${name} ${code}`)
        continue
      }
      await tool.close(task.id)
      await note(`done ${task.id} ${name}`)
      done++
      await call('release_claim', { claim, outcome: 'done', summary: 'baked' })
    }
  } catch (error) {
    // The connection is closed in the middle of a call.
    if (!signal.aborted) throw error
  } finally {
    signal.removeEventListener('abort', end)
    await client.close()
  }
  return done
}
