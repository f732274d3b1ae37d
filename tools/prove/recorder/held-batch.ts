// One batch of writes is held back on its way to libSQL's server, and lands later: its caller may
// be gone by then, and what it changes may have been changed again.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Answered, FaultyProxy, Passed } from './proxy.ts'

export interface Holding {
  /** Which batch, by the texts of its statements. Absent: any. */
  isSought?: (statements: readonly string[]) => boolean
  /** So long nothing else comes through. */
  aloneMs?: number
  /** The one that was sought lands no sooner than this. `ids`: of the rows that it changes. */
  overtaken?: (ids: readonly string[]) => Promise<unknown>
  onHeld?: () => Promise<unknown>
}

/** So long a certain batch is waited for, on a slow machine, too; and then any. */
const SOUGHT_MS = 60_000
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
  proxy: Pick<FaultyProxy, 'hold' | 'onAnswer'>,
  ms: number,
  { isSought, aloneMs = 0, overtaken, onHeld }: Holding,
): Promise<Record<string, unknown>> {
  const { promise: held, resolve: hold } = Promise.withResolvers<{ isSought: boolean }>()
  const { promise: landed, resolve: land } = Promise.withResolvers<Answered>()
  const anyAt = performance.now() + (isSought ? SOUGHT_MS : 0)
  const reader = new Reader()
  let heldAt: number | undefined
  let heldIt: Passed | undefined
  proxy.onAnswer = (answered) => {
    reader.answered(answered)
    if (answered.passed === heldIt) land(answered)
  }
  proxy.hold = (passed) => {
    const now = performance.now()
    if (heldAt !== undefined) return now < heldAt + aloneMs ? refused() : undefined
    const { isKnown, statements } = reader.read(passed)
    // A new connection sends all texts again.
    if (isSought && !isKnown) return refused()
    if (statements[0] !== 'BEGIN IMMEDIATE') return undefined
    const isIt = isSought?.(statements) ?? false
    if (!isIt && now < anyAt) return undefined
    heldAt = now
    heldIt = passed
    hold({ isSought: isIt })
    onHeld?.().catch(() => undefined)
    const isOver = [sleep(ms), isIt && overtaken?.(idsIn(passed.body))]
    return heldUntil(passed, Promise.all(isOver))
  }
  const found = await Promise.race([held, sleep(anyAt - performance.now() + NO_BATCH_MS)])
  const answered = found && (await landed)
  proxy.hold = () => undefined
  proxy.onAnswer = () => undefined
  if (!answered) return { held: false }
  const { status, answer } = answered
  return { held: true, ...found, status, isCommitted: status === 200 && isCommitted(answer) }
}

const refused = () => Promise.reject(new Error('held back'))

/** Its body when that is over, on the same connection, which was kept open. */
async function heldUntil({ body, send }: Passed, over: Promise<unknown>): Promise<string> {
  const batch = JSON.parse(body) as { baton: string | null }
  const isOver = over.then(yes, yes)
  while (!(await Promise.race([isOver, sleep(KEPT_OPEN_MS)]))) {
    // Each answer has the name of the connection for the next request.
    const answer = await send(JSON.stringify({ baton: batch.baton, requests: [] }))
    batch.baton = (JSON.parse(answer) as typeof batch).baton
  }
  return JSON.stringify(batch)
}

const yes = () => true

interface Request {
  /** The name of the connection, which each answer changes. Null or absent: of a new one. */
  baton: string | null
  requests: {
    sql_id?: number
    sql?: string
    batch?: { steps: { stmt: { sql?: string; sql_id?: number } }[] }
  }[]
}

type Texts = Map<number, string>

/** Reads the statements of batches: a connection sends each text once, and then its number. */
class Reader {
  readonly #texts = new Map<string, Texts>()
  readonly #asked = new WeakMap<Passed, Texts>()

  /** Not `isKnown`: its connection was there before, so some texts are missing. */
  read(passed: Passed): { isKnown: boolean; statements: string[] } {
    const asked: Partial<Request> = passed.body ? JSON.parse(passed.body) : {}
    const { baton = null, requests = [] } = asked
    const known = baton === null ? new Map<number, string>() : this.#texts.get(baton)
    const texts = known ?? new Map<number, string>()
    this.#asked.set(passed, texts)
    const statements = requests.flatMap(({ sql_id, sql, batch }) => {
      if (sql_id !== undefined && sql !== undefined) texts.set(sql_id, sql)
      const steps = batch?.steps ?? []
      return steps.map(({ stmt }) => stmt.sql ?? texts.get(stmt.sql_id ?? -1) ?? '')
    })
    return { isKnown: known !== undefined, statements }
  }

  answered({ passed, answer, status }: Answered): void {
    const texts = this.#asked.get(passed)
    if (!texts || status !== 200) return
    const { baton } = JSON.parse(answer) as Answer
    if (baton) this.#texts.set(baton, texts)
  }
}

/** Of all rows that a batch changes. */
const idsIn = (body: string): string[] => body.match(/\b[0-9A-HJKMNP-TV-Z]{26}\b/g) ?? []

interface Answer {
  baton?: string | null
  results: { response?: { result?: { step_results?: unknown[] } } }[]
}

/** The last step of each batch but one is its COMMIT. */
function isCommitted(answer: string): boolean {
  const { results } = JSON.parse(answer) as Answer
  return results.some(({ response }) => (response?.result?.step_results?.at(-2) ?? null) !== null)
}
