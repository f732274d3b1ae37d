import { afterEach, expect, test } from 'vitest'
import { type NodeEdgeInTest, startNodeEdge } from '../support/start-edge.ts'

let edge: NodeEdgeInTest | undefined
afterEach(() => edge?.close())

test('the end of the payments waits for no board, and the end of all not for one that hangs', async () => {
  edge = await startNodeEdge({}, { stopWithinMs: 1_000 })
  const from = performance.now()
  await edge.edge().close(new Promise(() => undefined))
  expect(performance.now() - from).toBeGreaterThan(800)
  await expect(fetch(edge.origin)).rejects.toThrow()
})

test('boards that end publish their last changes after the payments are closed', async () => {
  edge = await startNodeEdge()
  const { fetch: ask } = edge.edge()
  const ended = Promise.withResolvers<number>()
  const closed = edge.edge().close(ended.promise)
  await expect
    .poll(() =>
      fetch(`${edge?.origin}/`).then(
        () => 'up',
        () => 'down',
      ),
    )
    .toBe('down')
  const answer = await ask(new Request(`${edge.origin}/api/sync?path=a`, { method: 'POST' }))
  expect(answer.status).toBe(401)
  ended.resolve(0)
  await closed
})
