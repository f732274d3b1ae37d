import { afterAll, beforeAll } from 'vitest'
import { accessContract } from '../contract/access.ts'
import { boardContract } from '../contract/board.ts'
import { type EdgeProcess, startEdge } from '../support/edge-process.ts'

let edge: EdgeProcess
beforeAll(async () => {
  edge = await startEdge('deno')
})
afterAll(() => edge.close())

boardContract('Deno, over HTTP', { edge: () => edge, sendsConnection: true })
accessContract('Deno, over HTTP', { edge: () => edge })
