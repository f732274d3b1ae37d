// `signalbox` with the board of a folder that agents work in.

import { join } from 'node:path'
import { loopbackUrl } from '../../../system/local/ports.ts'
import { SIGNALBOX } from '../../../tools/harness/config.ts'
import { freePort } from '../../../tools/harness/free-port.ts'
import { Process } from '../../../tools/harness/process.ts'

/** In the folder: of the board, and of what the Signalbox keeps. */
export const projectIn = (dir: string): string => join(dir, 'project')
export const dataIn = (dir: string): string => join(dir, 'data')

/** Not started. */
export async function signalboxIn(
  dir: string,
  env: Readonly<Record<string, string>>,
): Promise<Process> {
  const port = await freePort()
  const spec = {
    name: 'signalbox',
    command: process.execPath,
    args: [SIGNALBOX, 'dev', projectIn(dir), `--port=${port}`, `--data=${dataIn(dir)}`],
    env,
    logFile: join(dir, 'signalbox.log'),
    graceMs: 10_000,
  }
  return new Process(spec, loopbackUrl(port))
}
