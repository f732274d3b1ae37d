// A client that leaves in the middle of its body, on the Node host: its doing, not a failure of ours.

import { request } from 'node:http'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { prepareSchema } from '../../system/database/migrate.ts'
import { gatewaySecrets, simulatedGateways } from '../../system/local/gateways.ts'
import { type NodeEdge, openNodeEdge } from '../../worker/node.ts'
import { SECRET, token } from '../support/edge.ts'
import { tempFolder } from '../support/temp-folder.ts'

let dir: string
let edge: NodeEdge
let lines: [level: string, event: string][] = []
let authorization: string
beforeAll(async () => {
  dir = tempFolder()
  const simulator = 'http://127.0.0.1:1'
  edge = await openNodeEdge({
    env: {
      ...simulatedGateways(gatewaySecrets(SECRET), simulator),
      AUTH_SECRETS: SECRET,
      LIBSQL_URL: `file:${join(dir, 'payments.db')}`,
      PAYMENT_PUBLIC_URL: 'https://edge.test',
      PORT: '0',
      DATA_DIR: dir,
    },
    file: { payments: { gateways: { redirect: { driver: 'redirect' } } } },
    // Its sweeps come when they are due.
    log: (level, event) => event.includes('.sweep') || lines.push([level, event]),
    schema: prepareSchema,
  })
  authorization = `Bearer ${await token({ scope: 'board:write payments:write', repos: ['*'] })}`
})
beforeEach(() => {
  lines = []
})
afterAll(() => edge?.close())

const ROUTES = {
  '/api/changes?path=a/b': 'http.refused',
  '/api/payments/charges': 'http.refused',
  '/api/session': 'http.refused',
  '/payments/webhooks/redirect': 'payments.webhook.refused',
}
const LENGTHS = [{ 'content-length': '9' }, { 'transfer-encoding': 'chunked' }]

it.each(
  Object.entries(ROUTES).flatMap(([path, event]) =>
    LENGTHS.map((length) => [path, Object.keys(length)[0], event, length] as const),
  ),
)('leaves no error in the log: %s with %s', async (path, _, event, length) => {
  const origin = edge.url
  const headers = { authorization, origin, 'content-type': 'application/json', ...length }
  const sending = request(new URL(path, origin), { method: 'POST', headers })
  sending.on('error', () => undefined)
  await new Promise((resolve) => sending.write('{"a', resolve))
  sending.destroy()
  await expect.poll(() => lines).toEqual([['debug', event]])
})
