// The edge under Deno: the same app in one process, with no more rights than it uses.

import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import signalbox from '../../signalbox.config.ts'
import { LOOPBACK } from '../../system/local/ports.ts'
import { StartError } from '../../system/start-error.ts'
import { driversOf } from '../../worker/payments/config/gateway-settings.ts'
import type { SignalboxFile } from '../../worker/payments/define-config.ts'
import { EDGE_GRACE_MS, type PrepareEdge } from './edge-plan.ts'

export const prepareDeno: PrepareEdge = async (plan) => {
  const { dir, home, port, variables } = plan
  const consoleDir = plan.consoleDir ?? join(dir, 'console')
  return {
    name: 'deno',
    command: denoBinary(),
    args: [
      'run',
      '--no-prompt',
      '--no-remote',
      `--allow-net=${reachable(port, variables, signalbox).join(',')}`,
      `--allow-read=${dir},${consoleDir}`,
      `--allow-write=${dir}`,
      // It may be in the folder above, and no request changes what browsers run.
      `--deny-write=${consoleDir}`,
      '--allow-env',
      '--allow-sys=umask,ca,statfs',
      join(home, 'worker/deno.ts'),
    ],
    env: {
      ...plan.env,
      ...variables,
      HOST: LOOPBACK,
      PORT: String(port),
      DATA_DIR: dir,
      // Named even where there is none: the default it may not read.
      CONSOLE_DIR: consoleDir,
      DENO_NO_UPDATE_CHECK: '1',
      NO_COLOR: '1',
    },
    logFile: plan.logFile,
    graceMs: EDGE_GRACE_MS,
  }
}

/**
 * Hosts that the edge may listen on or call: those of this machine (its own, the database, the
 * simulator), those that its variables name, and a gateway's own where its variables name none.
 * @forTests Hosts of gateways that a test cannot call.
 */
export function reachable(
  port: number,
  variables: Readonly<Record<string, string>>,
  file: SignalboxFile,
): string[] {
  const gateways = Object.values(driversOf(file)).flatMap(({ envPrefix, settings }) => {
    const { base_url: base } = settings
    const isNamed = `${envPrefix}BASE_URL` in variables
    return base !== undefined && 'default' in base && !isNamed ? base.default : []
  })
  const named = [...Object.values(variables), ...gateways]
    .filter((value) => /^https?:\/\//.test(value) && URL.canParse(value))
    .map((value) => new URL(value).host)
  return [...new Set([`${LOOPBACK}:${port}`, LOOPBACK, ...named])]
}

/**
 * The binary itself: the package's own script would be a second process, and copies it first.
 * @forTests Runs our programs under Deno.
 */
export function denoBinary(): string {
  const libc = process.platform === 'linux' ? '-glibc' : ''
  const name = `@deno/${process.platform}-${process.arch}${libc}`
  const require = createRequire(createRequire(import.meta.url).resolve('deno/package.json'))
  try {
    return join(dirname(require.resolve(`${name}/package.json`)), 'deno')
  } catch (cause) {
    throw new StartError('not_installed', `Deno is not installed: ${name} is missing.`, { cause })
  }
}
