// The files of a checkout, which builds the console at each start, since it may have changed.

import { resolve } from 'node:path'
import { buildConsole } from '../console/build.ts'
import { bundling } from './bundling.ts'
import type { Home } from './home.ts'

export const checkoutHome: Home = {
  databaseThread: new URL('../worker/payments/ledger/libsql/thread-libsql.ts', import.meta.url),
  dir: resolve(import.meta.dirname, '..'),
  console: (dir) => ({ dir, ready: bundling('The console', () => buildConsole(dir)) }),
}
