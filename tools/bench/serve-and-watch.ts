// Signalbox as two processes, as its users start them: an edge, and a sidecar beside the files.

import { join, resolve } from 'node:path'
import { type Child, startNode } from './child.ts'
import { AUTH_SECRET, tokenFor } from './payments/edge.ts'

const SIGNALBOX = resolve(import.meta.dirname, '../../cli/bin.js')
const WAIT_MS = 150_000

/** It keeps its data in `workDir`. */
export async function startEdge(workDir: string): Promise<{ url: string; stop: Child['stop'] }> {
  const served = ['serve', '--port', '0', '--data', join(workDir, 'edge')]
  const env = { AUTH_SECRETS: AUTH_SECRET, LIBSQL_URL: '', METRICS_PORT: '' }
  const edge = await startNode([SIGNALBOX, ...served], /^signalbox ready /, WAIT_MS, { env })
  return { url: edge.line.split(' ').at(-1) ?? '', stop: edge.stop }
}

/** Resolves when the edge has the boards of a folder. */
export async function startWatch(
  folder: string,
  repo: string,
  url: string,
  workDir: string,
  flags: readonly string[] = [],
): Promise<Child> {
  const to = ['--edge', url, '--cache', join(workDir, 'cache'), ...flags]
  return await startNode(
    [SIGNALBOX, 'watch', folder, '--repo', repo, ...to],
    /"boards\.ready"/,
    WAIT_MS,
    { env: { SIGNALBOX_TOKEN: await tokenFor('board:write', { repos: ['*'], sub: 'bench' }) } },
  )
}
