import { afterAll, beforeAll } from 'vitest'
import { accessContract } from '../contract/access.ts'
import { boardContract } from '../contract/board.ts'
import { compressionContract } from '../contract/compression.ts'
import { consoleSessionContract } from '../contract/console-session.ts'
import { mcpContract } from '../contract/mcp.ts'
import { type NodeEdgeInTest, startNodeEdge } from '../support/start-edge.ts'

let edge: NodeEdgeInTest
beforeAll(async () => {
  edge = await startNodeEdge()
})
afterAll(() => edge.close())

boardContract('Node, over HTTP', { edge: () => edge, sendsConnection: true })
accessContract('Node, over HTTP', { edge: () => edge })
compressionContract('Node, over HTTP', { edge: () => edge })
mcpContract('Node, over HTTP', { edge: () => edge })
consoleSessionContract('Node, over HTTP', { edge: () => edge })
