import { expect, it } from 'vitest'
import type { Caller } from '../../../libraries/mcp/caller.ts'
import { followTasks } from '../../../libraries/mcp/resources.ts'

const URI = 'signalbox://tea/A-1'
const event = (id: string, task: string) =>
  `id: ${id}\ndata: ${JSON.stringify({ type: 'task-changed', id: task })}\n\n`

it('goes on where a stream broke, if it is let', async () => {
  const end = new AbortController()
  const heard: string[] = []
  const asked: (string | null)[] = []
  const bodies = [event('e-4', 'A-1'), event('e-5', 'A-2') + event('e-6', 'A-1')]
  const caller = {
    async send(_route: string, { headers }: RequestInit) {
      asked.push(new Headers(headers).get('Last-Event-ID'))
      const [body] = bodies.splice(0, 1)
      const chunks = [body === undefined ? undefined : new TextEncoder().encode(body)]
      return new Response(
        new ReadableStream({
          pull(controller) {
            const chunk = chunks.pop()
            if (chunk) controller.enqueue(chunk)
            else controller.error(new TypeError('terminated'))
          },
        }),
      )
    },
  } as unknown as Caller
  const again = async () => {
    if (asked.length > 2) end.abort()
  }
  const call = { caller, requestId: '1', signal: end.signal }
  await followTasks(call, [URI], { changed: (uri) => heard.push(uri), again })
  expect([heard, asked]).toEqual([
    [URI, URI],
    [null, 'e-4', 'e-6'],
  ])
})
