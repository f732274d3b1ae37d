// The edge under Node: `signalbox serve`, with its payments in a file of its folder unless
// LIBSQL_URL is among its variables.

import { join } from 'node:path'
import type { PrepareEdge } from './edge.ts'
import { LOOPBACK } from './ports.ts'

/** Streams end at once; a charge that waits for its gateway is answered. */
const GRACE_MS = 5_000

/** signalbox.config.ts is that of `home`. */
export const prepareNode: PrepareEdge = async ({ dir, home, port, ...plan }) => ({
  name: 'node',
  command: process.execPath,
  args: [join(import.meta.dirname, '../cli/signalbox.ts'), 'serve'],
  cwd: home,
  env: {
    ...plan.env,
    ...plan.variables,
    HOST: LOOPBACK,
    PORT: String(port),
    DATA_DIR: dir,
    CONSOLE_DIR: plan.consoleDir ?? join(dir, 'console'),
  },
  logFile: plan.logFile,
  graceMs: GRACE_MS,
})
