// GET /healthz of a host that is one process (Deno, Node): whether its database can be read, and
// its folder can be written. It needs no token: it is for load balancers and supervisors. The same
// is a metric, and lines of the log.

import { access, constants, rm, statfs, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { SignalboxFile } from './payments/define-config.ts'
import { SCHEMA_VERSION } from './payments/domain/rows.ts'
import { isoTime } from './payments/domain/time.ts'
import { LedgerRefused, OtherDatabase } from './payments/ledger/failures.ts'
import type { Database } from './payments/ledger/libsql/database-libsql.ts'
import {
  type Installation,
  readInstallation,
  readPause,
} from './payments/ledger/libsql/ledger-row-libsql.ts'
import { mismatchOf, readSchemaState } from './payments/ledger/libsql/schema-version-libsql.ts'
import type { Clock } from './shared/clock.ts'
import { isDamaged } from './shared/file-errors.ts'
import type { Log } from './shared/log.ts'
import type { Metrics } from './shared/metrics.ts'

/** Anybody may ask. */
const LOOKED_EVERY_MS = 10_000
/** Where there is room, a disk is not woken more often to see that it takes a file. */
const WRITTEN_EVERY_MS = 600_000
const ROOM_BYTES = 256 << 20
/**
 * More than a database finds in its own files: on a full disk it can still be read, and small saves
 * go on for a while. The file is removed at once, so it hardly ever reaches the disk.
 */
const WRITTEN = new Uint8Array(256 * 1_024)
const PROBE = 'healthz.tmp'

/** What is wrong, as a sentence that everybody may read; undefined: nothing. */
export type HealthCheck = () => Promise<string | undefined>

export interface HealthPlan {
  /** Undefined: no payments are configured. */
  database(): Pick<Database, 'read'> | undefined
  /** Which database it is to be. */
  installation: Installation
  /** Where databases grow. */
  folder: string
  clock: Pick<Clock, 'elapsed'>
  /** Whether there is much room in the folder. Absent: as the system says. */
  hasRoom?: (folder: string) => Promise<boolean>
}

export function healthCheck(plan: HealthPlan): HealthCheck {
  const { database, installation, folder, clock, hasRoom = hasRoomIn } = plan
  let looked: { at: number; isDone: Promise<boolean> } | undefined
  let writtenAt = Number.NEGATIVE_INFINITY
  async function look(at: number): Promise<boolean> {
    if (at - writtenAt < WRITTEN_EVERY_MS && (await hasRoom(folder))) return true
    const isDone = await canWrite(folder)
    writtenAt = isDone ? at : Number.NEGATIVE_INFINITY
    return isDone
  }
  function isWritable(): Promise<boolean> {
    const at = clock.elapsed()
    if (!looked || at - looked.at >= LOOKED_EVERY_MS) looked = { at, isDone: look(at) }
    return looked.isDone
  }
  async function ofDatabase({ read }: Pick<Database, 'read'>): Promise<string | undefined> {
    try {
      if (installation.expected !== undefined) installation.compare(await readInstallation(read))
      // A remote database has another version until it is migrated.
      return mismatchOf(await readSchemaState(read), SCHEMA_VERSION)
    } catch (error) {
      if (error instanceof OtherDatabase || error instanceof LedgerRefused) return error.message
      return isDamaged(error)
        ? 'The database of payments is damaged: signalbox restore brings back a backup.'
        : 'The database of payments cannot be read.'
    }
  }
  return async () => {
    const payments = database()
    const why = payments && (await ofDatabase(payments))
    if (why !== undefined) return why
    return (await isWritable()) ? undefined : 'The data folder cannot be written: is the disk full?'
  }
}

async function hasRoomIn(folder: string): Promise<boolean> {
  try {
    // It says so of a file system that was mounted anew to be read only, too.
    await access(folder, constants.W_OK)
    return await hasSpaceIn(folder)
  } catch {
    return false
  }
}

/** False also where it may not ask. */
export async function hasSpaceIn(folder: string): Promise<boolean> {
  try {
    const { bavail, bsize } = await statfs(folder)
    return bavail * bsize >= ROOM_BYTES
  } catch {
    return false
  }
}

async function canWrite(folder: string): Promise<boolean> {
  const file = join(folder, PROBE)
  await rm(file, { force: true }).catch(() => undefined)
  const isDone = await writeFile(file, WRITTEN, { mode: 0o600, flag: 'wx' }).then(
    () => true,
    () => false,
  )
  await rm(file, { force: true }).catch(() => undefined)
  return isDone
}

/**
 * Payments are paused, as a sentence that everybody may read: who asked for it is not in it. A
 * database that cannot be read is another failure.
 */
export async function pauseWarnings(
  database: Pick<Database, 'read'> | undefined,
): Promise<string[]> {
  const pause = database && (await readPause(database).catch(() => undefined))
  if (!pause) return []
  return [`Payments are paused since ${isoTime(pause.since)}: nothing new is begun.`]
}

/** The file with the route. `warnings`: what a person should look at while the service works. */
export function withHealthz(
  file: SignalboxFile,
  check: HealthCheck,
  warnings: () => Promise<readonly string[]>,
): SignalboxFile {
  return {
    ...file,
    async fetch(request, signalbox) {
      const isHere = new URL(request.url).pathname === '/healthz'
      if (!isHere) return await file.fetch?.(request, signalbox)
      const headers = { 'Cache-Control': 'no-store' }
      if (request.method !== 'GET' && request.method !== 'HEAD') {
        return new Response(null, { status: 405, headers })
      }
      const error = await check()
      if (error === undefined) {
        const seen = await warnings()
        const body = { status: 'ok', ...(seen.length > 0 && { warnings: seen }) }
        return Response.json(body, { headers })
      }
      return Response.json({ status: 'unavailable', error }, { status: 503, headers })
    },
  }
}

export function healthMetric(metrics: Metrics) {
  const healthy = metrics.gauge(
    'signalbox_healthy',
    '1 if the service worked when it was last checked, as GET /healthz says, else 0.',
    {},
  )
  return { setHealthy: (isHealthy: boolean) => healthy.set({}, isHealthy ? 1 : 0) }
}

/** As often as /healthz tries to write at most. */
export const CHECKED_EVERY_MS = LOOKED_EVERY_MS

export interface HealthReport {
  check: HealthCheck
  setHealthy(isHealthy: boolean): void
  log: Log
  /** Aborted when the system is to end, and its database is closed. */
  signal: AbortSignal
}

/** Checks, and logs a change; `error` when it turns bad, so that a start says it at once. */
export function healthReport({ check, setHealthy, log, signal }: HealthReport) {
  let known: string | undefined
  return async (): Promise<void> => {
    const why = await check()
    if (signal.aborted) return
    setHealthy(why === undefined)
    if (why === known) return
    known = why
    if (why === undefined) log('info', 'health.restored', {})
    else log('error', 'health.failed', { why })
  }
}
