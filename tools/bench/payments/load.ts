// Callbacks sent to a system: some at a time, each when the one before it is answered, or at a
// constant rate, independent of the answers. Every answer other than `ok` is shown as an error.

import { setTimeout as sleep } from 'node:timers/promises'
import { Connection, type Reply } from './connection.ts'

export interface Load {
  sent: number
  /** Answered with 200 and `ok`, the warm-up's too. */
  ok: number
  /** How often each other answer, or none, was met. */
  errors: Record<string, number>
}

export interface ClosedLoad extends Load {
  /** Answers with `ok` in each second of the time that counts. */
  perSecond: number
}

/** The next request, or undefined when there is no more. */
export type Supply = () => Buffer | undefined

export interface ClosedPlan {
  port: number
  connections: number
  warmUpMs: number
  countedMs: number
  /** Callbacks still unanswered so long after the last was sent have failed. */
  drainMs: number
}

/** A pause after a refused connection: without it each retry would fail at once. */
const AFTER_ERROR_MS = 20

export async function closedLoad(supply: Supply, plan: ClosedPlan): Promise<ClosedLoad> {
  const tally = newTally()
  const countsFrom = performance.now() + plan.warmUpMs
  const endsAt = countsFrom + plan.countedMs
  let exhaustedAt = Number.POSITIVE_INFINITY
  let counted = 0
  const connections = Array.from({ length: plan.connections }, () => new Connection(plan.port))
  const run = async (connection: Connection) => {
    while (performance.now() < endsAt) {
      const request = supply()
      if (!request) {
        exhaustedAt = Math.min(exhaustedAt, performance.now())
        return
      }
      const isOk = await sendOne(connection, request, tally)
      const at = performance.now()
      if (isOk && at >= countsFrom && at <= Math.min(endsAt, exhaustedAt)) counted++
      if (!isOk) await sleep(AFTER_ERROR_MS)
    }
  }
  const limitMs = plan.warmUpMs + plan.countedMs + plan.drainMs
  await within(limitMs, connections, connections.map(run))
  const tookMs = Math.min(endsAt, exhaustedAt) - countsFrom
  return { ...tally, perSecond: (counted / tookMs) * 1_000 }
}

export interface OpenPlan {
  port: number
  perSecond: number
  /** With `warmUpMs` at its start, which are not counted. */
  forMs: number
  warmUpMs: number
  /** A gateway opens as many as it needs, but not without end. */
  mostConnections: number
  drainMs: number
}

export interface OpenLoad extends Load {
  /** From the moment that each was to be sent, in ms; of the answers with `ok`. */
  latencies: number[]
}

/** Between two looks at what is due: what it is late by counts against the system. */
const TICK_MS = 1

export async function openLoad(supply: Supply, plan: OpenPlan): Promise<OpenLoad> {
  const tally = newTally()
  const latencies: number[] = []
  const all: Connection[] = []
  const idle: Connection[] = []
  const waiting: (() => void)[] = []
  const stepMs = 1_000 / plan.perSecond

  const take = async (): Promise<Connection> => {
    const free = idle.pop()
    if (free) return free
    if (all.length < plan.mostConnections) {
      const connection = new Connection(plan.port)
      all.push(connection)
      return connection
    }
    await new Promise<void>((resolve) => waiting.push(resolve))
    return take()
  }
  const startedAt = performance.now()
  // `dueMs` is counted from the start: a sum with the clock's fractions is no whole number again.
  const sendAt = async (dueMs: number, request: Buffer) => {
    const connection = await take()
    const isOk = await sendOne(connection, request, tally)
    idle.push(connection)
    waiting.shift()?.()
    if (isOk && dueMs >= plan.warmUpMs) latencies.push(performance.now() - startedAt - dueMs)
  }

  const sending: Promise<void>[] = []
  const most = Math.floor(plan.forMs / stepMs)
  while (sending.length < most) {
    const due = Math.min(most, Math.floor((performance.now() - startedAt) / stepMs) + 1)
    while (sending.length < due) {
      const request = supply()
      if (!request) throw new Error('There are fewer callbacks than the load needs.')
      sending.push(sendAt(sending.length * stepMs, request))
    }
    await sleep(TICK_MS)
  }
  await within(plan.drainMs, all, sending)
  return { ...tally, latencies }
}

const newTally = (): Load => ({ sent: 0, ok: 0, errors: {} })

async function sendOne(connection: Connection, request: Buffer, tally: Load): Promise<boolean> {
  tally.sent++
  const error = await connection.send(request).then(errorOf, (cause: Error) => cause.message)
  if (error === undefined) tally.ok++
  else tally.errors[error] = (tally.errors[error] ?? 0) + 1
  return error === undefined
}

/** Undefined for the one answer that is none. */
function errorOf({ status, body }: Reply): string | undefined {
  if (status !== 200) return `HTTP ${status}`
  return body === 'ok' ? undefined : `200 ${body.slice(0, 40)}`
}

/** Waits for all of them, and closes what is not answered by then, which fails it. */
async function within(ms: number, connections: Connection[], work: Promise<void>[]) {
  const timer = setTimeout(() => {
    for (const connection of connections) connection.close('no answer in time')
  }, ms)
  await Promise.all(work)
  clearTimeout(timer)
  for (const connection of connections) connection.close('the load is over')
}
