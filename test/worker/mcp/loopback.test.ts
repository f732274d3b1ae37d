// MCP on loopback: under which names it may be asked.

import { expect, it } from 'vitest'
import { SECRET, token } from '../../support/edge.ts'
import { processEdge } from '../../support/in-process-edge.ts'

const PUBLIC = 'https://board.example'
const onLoopback = processEdge({
  env: { AUTH_SECRETS: SECRET, SIGNALBOX_PUBLIC_URL: PUBLIC },
  isOnLoopback: true,
})

it.each([
  ['http://127.0.0.1:8787', 200],
  ['http://localhost:8787', 200],
  ['http://[::1]:8787', 200],
  [PUBLIC, 200],
  ['http://rebound.example:8787', 403],
  ['http://127.0.0.1.rebound.example', 403],
])('an edge on loopback, asked as %s, answers %i', async (seen, status) => {
  const init = {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${await token({})}`,
      Accept: 'application/json, text/event-stream',
      'Content-Type': 'application/json',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }),
  }
  const answer = await onLoopback.fetch('/mcp', init, seen)
  expect(answer.status).toBe(status)
  if (status === 403) expect(await answer.json()).toMatchObject({ code: 'bad_host' })
})
