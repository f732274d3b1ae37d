// An edge in its own process, on a real port: workerd, Deno or Node.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loopbackUrl } from '../../system/ports.ts'
import { type Host, PREPARE } from '../../tools/harness/edge.ts'
import { freePort } from '../../tools/harness/free-port.ts'
import { Process } from '../../tools/harness/process.ts'
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

type Variables = Readonly<Record<string, string>>

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
  const edge = new Process(spec, url)
  await edge.start()
  return {
    origin: url,
    dir,
    pid: () => edge.pid,
    fetch: documentedFetch(url),
    async crash(whileDown) {
      await edge.kill()
      await whileDown?.()
      await edge.start()
    },
    async close() {
      await edge.stop()
      await rm(dir, { recursive: true, force: true })
    },
  }
}
