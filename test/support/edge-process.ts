// An edge in its own process, on a real port: workerd, Deno or Node.

import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../../harness/free-port.ts'
import { bundleWorker } from '../../local/bundle.ts'
import { spawnChild } from '../../local/child.ts'
import { prepareDeno } from '../../local/deno.ts'
import type { PrepareEdge } from '../../local/edge.ts'
import { prepareNode } from '../../local/node.ts'
import { loopbackUrl } from '../../local/ports.ts'
import { untilAnswers } from '../../local/until.ts'
import { prepareWorkerd } from '../../local/workerd.ts'
import { type Edge, SECRET } from './edge.ts'
import { documentedFetch } from './openapi-operations.ts'
import { programEnv } from './run-home.ts'

export interface EdgeProcess extends Edge {
  /** Its data, log and script. */
  dir: string
  /** The process id of the runtime. */
  pid(): number | undefined
  /** Kills the process (SIGKILL) and starts it again, with the same port and data. */
  crash(whileDown?: () => Promise<void>): Promise<void>
  close(): Promise<void>
}

export type Host = 'workerd' | 'deno' | 'node'
const PREPARE: Readonly<Record<Host, PrepareEdge>> = {
  workerd: (plan) => prepareWorkerd(plan, bundleOnce),
  deno: prepareDeno,
  node: prepareNode,
}
type Variables = Readonly<Record<string, string>>

const bundles = new Map<string, Promise<Buffer>>()

/** No test changes a source, so all test files of this process can use one bundle. */
async function bundleOnce(entry: string, outfile: string): Promise<void> {
  const made = bundles.get(entry)
  if (made) return await writeFile(outfile, await made)
  const bundled = bundleWorker(entry, outfile).then(() => readFile(outfile))
  bundles.set(entry, bundled)
  await bundled
}

/** Some variables contain the URL of the edge, which is known only now. */
export async function startEdge(
  host: Host,
  variables: Variables | ((origin: string) => Variables) = {},
  /** `consoleDir`: the folder of the built page. `home`: the folder of the product. */
  { consoleDir, home = process.cwd() }: { consoleDir?: string; home?: string } = {},
): Promise<EdgeProcess> {
  const dir = await mkdtemp(join(tmpdir(), `signalbox-${host}-`))
  const port = await freePort()
  const url = loopbackUrl(port)
  const given = typeof variables === 'function' ? variables(url) : variables
  const spec = await PREPARE[host]({
    port,
    dir,
    ...(consoleDir !== undefined && { consoleDir }),
    home,
    variables: { AUTH_SECRETS: SECRET, ...given },
    env: programEnv(dir),
    logFile: join(dir, 'edge.log'),
  })
  const start = async () => {
    const started = spawnChild(spec)
    await untilAnswers(url, { what: host, waitMs: 60_000, signal: AbortSignal.timeout(60_000) })
    return started
  }
  let child = await start()
  return {
    origin: url,
    dir,
    pid: () => child.pid,
    fetch: documentedFetch(url),
    async crash(whileDown) {
      child.kill()
      await child.ended
      await whileDown?.()
      child = await start()
    },
    async close() {
      child.stop()
      await child.ended
      await rm(dir, { recursive: true, force: true })
    },
  }
}
