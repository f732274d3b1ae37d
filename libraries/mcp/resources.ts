// Tasks as resources, `signalbox://BOARD/TASK`, both percent-encoded.

import {
  type McpServer,
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  ResourceTemplate,
  type ServerContext,
} from '@modelcontextprotocol/server'
import type { Message, Tasks } from '../api/types.ts'
import { ask, type Call, type Caller, Refused, routeOf } from './caller.ts'
import { changesOf } from './changes.ts'

/** A page of the list. */
const LISTED = 1_000
const JSON_TYPE = 'application/json'

interface Named {
  board: string
  task: string
}

const uriOf = ({ board, task }: Named): string =>
  `signalbox://${encodeURIComponent(board)}/${encodeURIComponent(task)}`

export function namedIn(uri: string): Named | undefined {
  const [, board = '', task = ''] = /^signalbox:\/\/([^/?#]+)\/([^/?#]+)$/.exec(uri) ?? []
  try {
    return (
      (board && { board: decodeURIComponent(board), task: decodeURIComponent(task) }) || undefined
    )
  } catch {
    return undefined
  }
}

const callOf = (caller: Caller, { mcpReq }: ServerContext): Call => ({
  caller,
  requestId: String(mcpReq.id),
  signal: mcpReq.signal,
})

/** Those of the one board that is meant are listed; of others, whoever knows them reads them. */
export function addTasks(server: McpServer, caller: Caller): void {
  const template = new ResourceTemplate('signalbox://{board}/{task}', { list: undefined })
  const description = 'A task of a board, as get_task answers it.'
  const config = { title: 'Task', description, mimeType: JSON_TYPE }
  server.registerResource('task', template, config, async ({ href }, _, context) => {
    const named = namedIn(href)
    if (!named) throw new ResourceNotFoundError(href)
    const { board, task } = named
    const call = callOf(caller, context)
    const found = await asProtocol(async () => await ask<object>(call, routeOf(task), { board }))
    return { contents: [{ uri: href, mimeType: JSON_TYPE, text: JSON.stringify(found) }] }
  })
  // In place of the SDK's own, which knows no pages.
  server.server.setRequestHandler('resources/list', async ({ params }, context) => {
    const board = await caller.board()
    if (board === undefined) return { resources: [] }
    const query = { limit: LISTED, after: params?.cursor }
    const { tasks, next } = await asProtocol(() =>
      ask<Tasks>(callOf(caller, context), '/tasks', { board, query }),
    )
    return {
      resources: tasks.map(({ id, title }) => {
        return { ...config, uri: uriOf({ board, task: id }), name: id, title }
      }),
      ...(next !== undefined && { nextCursor: next }),
    }
  })
}

/** A resource has no result that says what is wrong: that is an error of the protocol. */
async function asProtocol<Answer>(work: () => Promise<Answer>): Promise<Answer> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof Refused)) throw error
    const { problem } = error
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, problem.error, problem)
  }
}

/**
 * Calls back for each of these tasks that may have changed, until the signal. A stream that failed
 * is begun again where it ended, once `again` has let it pass. Throws what that throws.
 */
export async function followTasks(
  call: Call,
  uris: readonly string[],
  { changed, again }: { changed(uri: string): void; again(error: unknown): Promise<void> },
): Promise<void> {
  const named = uris.flatMap((uri) => {
    const it = namedIn(uri)
    return it ? [{ uri, ...it }] : []
  })
  const boards = Map.groupBy(named, ({ board }) => board)
  await Promise.all(
    [...boards].map(async ([board, tasks]) => {
      for (let since: string | undefined; !call.signal.aborted; ) {
        // A stream ends by its age, too: the next one goes on where it ended.
        try {
          const following = { since, signal: call.signal }
          for await (const { message, id } of changesOf(call, board, following)) {
            since = id ?? since
            for (const { uri, task } of message ? tasks : []) {
              if (message && mayBe(task, message)) changed(uri)
            }
          }
        } catch (error) {
          await again(error)
        }
      }
    }),
  )
}

/** A claim of it is a session. */
const mayBe = (task: string, message: Message): boolean =>
  message.type !== 'task-changed' || message.id === task
