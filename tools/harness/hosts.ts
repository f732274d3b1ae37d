// How the edge runs on each host.

import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { LOOPBACK } from '../../system/local/ports.ts'
import { bundleWorker } from '../start/bundle.ts'
import { prepareDeno } from '../start/deno.ts'
import type { PrepareEdge } from '../start/edge-plan.ts'
import { prepareWorkerd } from '../start/workerd.ts'

export const HOSTS = ['workerd', 'deno', 'node'] as const
export type Host = (typeof HOSTS)[number]

/** Streams end at once; a charge that waits for its gateway is answered. */
const NODE_GRACE_MS = 5_000

/**
 * `signalbox serve` in the folder of a shop, with its signalbox.config.ts. Payments are in a file
 * of its data folder, unless LIBSQL_URL is among its variables.
 */
export const prepareNode: PrepareEdge = async ({ dir, home, port, ...plan }) => ({
  name: 'node',
  command: process.execPath,
  args: [join(import.meta.dirname, '../../cli/signalbox.ts'), 'serve'],
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
  graceMs: NODE_GRACE_MS,
})

export const PREPARE: Readonly<Record<Host, PrepareEdge>> = {
  workerd: (plan) => prepareWorkerd(plan, bundleOnce),
  deno: prepareDeno,
  node: prepareNode,
}

const bundles = new Map<string, Promise<Buffer>>()

/** No source changes in a run, so all its edges can use one bundle. */
async function bundleOnce(entry: string, outfile: string): Promise<void> {
  const made = bundles.get(entry)
  if (made) return await writeFile(outfile, await made)
  const bundled = bundleWorker(entry, outfile).then(() => readFile(outfile))
  bundles.set(entry, bundled)
  await bundled
}
