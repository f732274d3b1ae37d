// What only Deno can show: its HTTP server. All else that one process does is tested on Node.

import { afterAll, beforeAll, it } from 'vitest'
import { accessContract } from '../contract/access.ts'
import { boardContract } from '../contract/board.ts'
import { expectHostsRefused } from '../contract/doors.ts'
import { type EdgeProcess, startEdge } from '../support/edge-process.ts'

let edge: EdgeProcess
beforeAll(async () => {
  edge = await startEdge('deno')
})
afterAll(() => edge.close())

boardContract('Deno, over HTTP', { edge: () => edge, sendsConnection: true })
accessContract('Deno, over HTTP', { edge: () => edge })

it('refuses under Deno a Host header that is no host', () => expectHostsRefused(edge))
