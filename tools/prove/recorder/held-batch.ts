// One batch of writes is held back on its way to libSQL's server, and lands later: its caller may
// be gone by then, and what it changes may have been changed again.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Answered, FaultyProxy, Passed } from './proxy.ts'

export interface Holding {
  /** Which batch, by the texts of its statements and the whole request. Any by itself. */
  isSought?: (statements: readonly string[], body: string) => boolean
  /** So long nothing else comes through. */
  aloneMs?: number
  onHeld?: () => Promise<unknown>
}

/** So long a certain batch is waited for, and then any. */
const SOUGHT_MS = 12_000
/** Under any load there is a batch to hold within this time. */
const NO_BATCH_MS = 5_000
/** The server forgets a connection that is not used for 10 s, and would refuse the batch. */
const KEPT_OPEN_MS = 5_000

/**
 * The end of a refund, and nothing beside it that has an id which is stored by then: that would
 * refuse the whole batch. Where nothing compares the batch with what it was decided on, a refund
 * that is done is `accepted` again when it lands.
 */
export const undoesRefund = (statements: readonly string[]): boolean =>
  statements.some((sql) => /\bUPDATE payment_refunds\b/.test(sql)) &&
  statements.every((sql) => !/\bINSERT INTO\b/.test(sql))

/** Holds a batch back for `ms`. What became of it, for people who read the history. */
export async function holdBatch(
  proxy: FaultyProxy,
  ms: number,
  { isSought, aloneMs = 0, onHeld }: Holding,
): Promise<Record<string, unknown>> {
  const { promise: held, resolve: hold } = Promise.withResolvers<{ isSought: boolean }>()
  const { promise: landed, resolve: land } = Promise.withResolvers<Answered>()
  const anyAt = performance.now() + (isSought ? SOUGHT_MS : 0)
  const statementsOf = reader()
  let heldAt: number | undefined
  // A connection sends each text once, and then its number: a new one sends them again.
  let isRead = !isSought
  proxy.hold = (passed) => {
    const now = performance.now()
    if (heldAt !== undefined) return now < heldAt + aloneMs ? refused() : undefined
    const statements = statementsOf(passed.body)
    if (statements[0] !== 'BEGIN IMMEDIATE') return undefined
    if (!isRead) {
      isRead = true
      return refused()
    }
    const isIt = isSought?.(statements, passed.body) ?? false
    if (!isIt && now < anyAt) return undefined
    heldAt = now
    proxy.onAnswer = (answered) => answered.passed === passed && land(answered)
    hold({ isSought: isIt })
    onHeld?.().catch(() => undefined)
    return heldFor(passed, ms)
  }
  const found = await Promise.race([held, sleep(anyAt - performance.now() + NO_BATCH_MS)])
  const answered = found && (await landed)
  proxy.hold = () => undefined
  if (!answered) return { held: false }
  const { status, answer } = answered
  return { held: true, ...found, status, isCommitted: status === 200 && isCommitted(answer) }
}

const refused = () => Promise.reject(new Error('held back'))

/** Its body at the end of that time, on the same connection, which was kept open. */
async function heldFor({ body, send }: Passed, ms: number): Promise<string> {
  const batch = JSON.parse(body) as { baton: string | null }
  for (let left = ms; left > 0; left -= KEPT_OPEN_MS) {
    await sleep(Math.min(left, KEPT_OPEN_MS))
    if (left <= KEPT_OPEN_MS) break
    // Each answer has the name of the connection for the next request.
    const answer = await send(JSON.stringify({ baton: batch.baton, requests: [] }))
    batch.baton = (JSON.parse(answer) as typeof batch).baton
  }
  return JSON.stringify(batch)
}

interface Statement {
  sql?: string
  sql_id?: number
}

interface Request {
  requests: {
    sql_id?: number
    sql?: string
    batch?: { steps: { stmt: Statement }[] }
  }[]
}

/** Reads the statements of a batch, and what they are stored as for later ones. */
function reader(): (body: string) => string[] {
  const stored = new Map<number, string>()
  return (body) => {
    if (body === '') return []
    const { requests } = JSON.parse(body) as Request
    return requests.flatMap(({ sql_id, sql, batch }) => {
      if (sql_id !== undefined && sql !== undefined) stored.set(sql_id, sql)
      const steps = batch?.steps ?? []
      return steps.map(({ stmt }) => stmt.sql ?? stored.get(stmt.sql_id ?? -1) ?? '')
    })
  }
}

interface Answer {
  results: { response?: { result?: { step_results?: unknown[] } } }[]
}

/** The last step of each batch but one is its COMMIT. */
function isCommitted(answer: string): boolean {
  const { results } = JSON.parse(answer) as Answer
  return results.some(({ response }) => (response?.result?.step_results?.at(-2) ?? null) !== null)
}
