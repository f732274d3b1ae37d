// Edge, console, ledger and sidecar in this process: the order in which they come up and go down.

import { join } from 'node:path'
import type { Log } from '../../sidecar/log.ts'
import { ConfigError } from '../../worker/config.ts'
import { type NodeEdge, openNodeEdge } from '../../worker/node.ts'
import type { SignalboxFile } from '../../worker/payments/define-config.ts'
import { libsqlDatabase } from '../../worker/payments/ledger/libsql/http-libsql.ts'
import { readAuth } from '../../worker/shared/auth-config.ts'
import type { Log as EdgeLog } from '../../worker/shared/log.ts'
import { Metrics } from '../../worker/shared/metrics.ts'
import type { DataFolder } from '../data-folder.ts'
import { schemaFrom } from '../database/migrate.ts'
import type { Home } from '../home.ts'
import { embeddedUrl } from '../node.ts'
import { portRefused } from '../ports.ts'
import { StartError } from '../start-error.ts'
import { healthOf, type Readable, withHealth } from './health.ts'
import { type BoardPlan, type Publishing, publishBoard } from './publish.ts'

export type Variables = Readonly<Record<string, string>>

export interface SystemPlan {
  data: DataFolder
  home: Home
  /** Of the edge: all but its folders. */
  variables: Variables
  /** signalbox.config.ts */
  file: SignalboxFile
  /** Absent: sidecars elsewhere publish to it. */
  board?: BoardPlan | undefined
  version: string
  log: EdgeLog
  /** Of the sidecar. */
  sidecarLog: Log
  /** Shows a sentence to the person at the terminal. */
  notice(sentence: string): void
  /** Aborted when it is not wanted any more. */
  signal: AbortSignal
}

export interface OpenSystem {
  edge: NodeEdge
  board: Publishing | undefined
  /** Resolves when the console and the board are there. */
  ready: Promise<unknown>
  /** Never resolves. Rejects when the board's sidecar failed by a defect. */
  failed: Promise<never>
  /** Replaces the AUTH_ variables. Throws ConfigError, and changes nothing then. */
  reload(variables: Variables): void
  /** Publishes what is pending, ends all streams, answers what is under way. */
  close(): Promise<void>
}

/** The ledger's database in a data folder. */
export const databaseIn = (dataDir: string): string => embeddedUrl(join(dataDir, 'node'))

/** Throws StartError; nothing runs then. */
export async function openSystem(plan: SystemPlan): Promise<OpenSystem> {
  const { data, home, log, notice, signal } = plan
  let { variables } = plan
  const page = home.console(join(data.edgeDir, 'console'))
  page.ready.catch(() => undefined)
  const { LIBSQL_URL: url = '', LIBSQL_AUTH_TOKEN: authToken } = variables
  let database: Readable = libsqlDatabase({ url, ...(authToken && { authToken }) }, Date.now)
  const metrics = new Metrics()
  const edge = await openNodeEdge({
    metrics,
    env: { ...variables, DATA_DIR: data.edgeDir, CONSOLE_DIR: page.dir },
    file: withHealth(plan.file, async () => healthOf(database, signal)),
    log,
    databaseThread: home.databaseThread,
    async schema(embedded) {
      database = embedded
      await schemaFrom(home.dir, { notice, signal })(embedded)
    },
  }).catch((error: unknown) => {
    throw refusal(error, variables)
  })
  const board =
    plan.board &&
    publishBoard({
      ...plan.board,
      edge,
      auth: () => readAuth(variables),
      cacheDir: data.cacheDir,
      version: plan.version,
      log: plan.sidecarLog,
      metrics,
    })
  return {
    edge,
    board,
    ready: Promise.all([page.ready, board?.ready]),
    failed: board?.failed ?? new Promise<never>(() => undefined),
    reload(fresh) {
      edge.reload(fresh)
      variables = fresh
    },
    async close() {
      await board?.close()
      await edge.close()
    },
  }
}

/** What a start cannot work with, as a sentence. */
function refusal(error: unknown, { HOST = '', PORT }: Variables): unknown {
  if (error instanceof ConfigError) {
    return new StartError('bad_configuration', error.message, { cause: error })
  }
  const { syscall, code, port = Number(PORT) } = error as NodeJS.ErrnoException & { port?: number }
  return syscall === 'listen' ? portRefused(HOST, port, String(code)) : error
}
