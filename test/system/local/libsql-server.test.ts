// libSQL's own server, as it is started here: it answers pages of any origin, so what keeps them out
// is the token alone.

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { databaseAccess } from '../../../system/local/tokens.ts'
import { type LibsqlServer, startLibsql } from '../../../tools/harness/database.ts'

let libsql: LibsqlServer
beforeAll(async () => {
  libsql = await startLibsql()
})
afterAll(() => libsql.close())

const QUESTION = JSON.stringify({
  requests: [{ type: 'execute', stmt: { sql: 'SELECT 1' } }, { type: 'close' }],
})

const ask = async (token?: string, path = '/v2/pipeline') => {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
  const isPost = !/^\/(dump|beta)/.test(path)
  return fetch(`${libsql.url}${path}`, {
    headers,
    ...(isPost && { method: 'POST', body: QUESTION }),
  })
}

describe('a local database', () => {
  it.each([
    '/',
    '/v1/execute',
    '/v1/batch',
    '/v2/pipeline',
    '/v3/pipeline',
    '/v3/cursor',
    '/v3-protobuf/pipeline',
    '/v3-protobuf/cursor',
    '/dev/default/v2/pipeline',
    '/dump',
    '/beta/listen?table=payment_outbox',
  ])('answers 401 at %s without a token', async (path) => {
    expect((await ask(undefined, path)).status).toBe(401)
  })

  it('accepts its own token, and not that of another data folder', async () => {
    expect((await ask(libsql.token)).status).toBe(200)
    const other = await databaseAccess('the secret of another data folder')
    for (const wrong of [other.token, unsigned(), '']) {
      expect((await ask(wrong)).status).toBe(401)
    }
  })

  it.each(['hrana1', 'hrana2', 'hrana3'])(
    'refuses a WebSocket (%s) without a token',
    async (as) => {
      expect(await firstAnswer(as)).not.toContain('hello_ok')
      expect(await firstAnswer(as, libsql.token)).toContain('hello_ok')
    },
  )
})

const unsigned = (): string =>
  [{ alg: 'none' }, { a: 'rw' }]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.')
    .concat('.')

/** The server's answer to a hello. `closed`: it ended the connection instead. */
function firstAnswer(protocol: string, jwt?: string): Promise<string> {
  const socket = new WebSocket(libsql.url.replace('http:', 'ws:'), [protocol])
  return new Promise<string>((resolve) => {
    socket.onopen = () => socket.send(JSON.stringify({ type: 'hello', jwt }))
    socket.onmessage = ({ data }) => resolve(String(data))
    socket.onclose = () => resolve('closed')
    socket.onerror = () => resolve('closed')
  }).finally(() => socket.close())
}
