// The edge under Node: the same app in one process, with its payments in a file of its own.

import { join } from 'node:path'
import type { PrepareEdge } from './edge.ts'
import { LOOPBACK } from './ports.ts'

/** Streams end at once; a charge that waits for its gateway is answered. */
const GRACE_MS = 5_000

/** Without LIBSQL_URL among its variables, payments are in `payments.db` of its folder. */
export const prepareNode: PrepareEdge = async (plan) => {
  const { dir, home, port, variables } = plan
  return {
    name: 'node',
    command: process.execPath,
    args: [join(import.meta.dirname, 'node-edge.ts'), home],
    env: {
      ...plan.env,
      LIBSQL_URL: embeddedUrl(dir),
      ...variables,
      HOST: LOOPBACK,
      PORT: String(port),
      DATA_DIR: dir,
      CONSOLE_DIR: plan.consoleDir ?? join(dir, 'console'),
    },
    logFile: plan.logFile,
    graceMs: GRACE_MS,
  }
}

/** `dir`: the folder of the edge. */
export const embeddedUrl = (dir: string): string => `file:${join(dir, 'payments.db')}`
