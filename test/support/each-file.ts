// Setup of each test file: what it made on the disk goes with it. What it compiled stays for the other
// processes of the run: Vitest ends its own by a signal, and they would keep nothing. And `fetch`
// forgets a connection that was idle for half a second. By itself it does so after 4 s, and servers
// close one after 5: a test that a busy machine stops for a second in between would send on a closed
// connection, and get no answer.

import { flushCompileCache } from 'node:module'
import { afterAll, beforeAll } from 'vitest'
import { removeTempFolders } from './temp-folder.ts'

afterAll(removeTempFolders)
afterAll(() => flushCompileCache())

/** Where Node's own `fetch` keeps its dispatcher; it brings no other way to its settings. */
const DISPATCHER = Symbol.for('undici.globalDispatcher.1')
const IDLE_MS = 500

type Agent = new (options: { keepAliveTimeout: number; keepAliveMaxTimeout: number }) => object

beforeAll(async () => {
  const holder = globalThis as { [DISPATCHER]?: { constructor: unknown } }
  // The first call makes it.
  await fetch('data:,')
  const Agent = holder[DISPATCHER]?.constructor as Agent
  holder[DISPATCHER] = new Agent({ keepAliveTimeout: IDLE_MS, keepAliveMaxTimeout: IDLE_MS })
})
