// Callbacks sent to a system, some at a time, each when the one before it is answered. Every answer
// other than `ok` is shown as an error.

import { setTimeout as sleep } from 'node:timers/promises'
import { Connection, type Reply } from './connection.ts'

export interface Load {
  sent: number
  /** Answered with 200 and `ok`, the warm-up's too. */
  ok: number
  /** Each other answer that was met, or why there was none. */
  errors: ReadonlySet<string>
  /** Answers with `ok` in each second of the time that counts. */
  perSecond: number
}

/** The next request, or undefined when there is no more. */
export type Supply = () => Buffer | undefined

export interface LoadPlan {
  port: number
  connections: number
  warmUpMs: number
  countedMs: number
  /** Callbacks still unanswered so long after the last was sent have failed. */
  drainMs: number
}

/** A pause after a refused connection: without it each retry would fail at once. */
const AFTER_ERROR_MS = 20

export async function closedLoad(supply: Supply, plan: LoadPlan): Promise<Load> {
  const errors = new Set<string>()
  let [sent, ok, counted] = [0, 0, 0]
  const countsFrom = performance.now() + plan.warmUpMs
  const endsAt = countsFrom + plan.countedMs
  let exhaustedAt = Number.POSITIVE_INFINITY
  const connections = Array.from({ length: plan.connections }, () => new Connection(plan.port))
  const run = async (connection: Connection) => {
    while (performance.now() < endsAt) {
      const request = supply()
      if (!request) {
        exhaustedAt = Math.min(exhaustedAt, performance.now())
        return
      }
      sent++
      const error = await connection.send(request).then(errorOf, (cause: Error) => cause.message)
      const at = performance.now()
      if (error === undefined) {
        ok++
        if (at >= countsFrom && at <= Math.min(endsAt, exhaustedAt)) counted++
        continue
      }
      errors.add(error)
      await sleep(AFTER_ERROR_MS)
    }
  }
  const limitMs = plan.warmUpMs + plan.countedMs + plan.drainMs
  const closeAll = (why: string) => {
    for (const connection of connections) connection.close(why)
  }
  const timer = setTimeout(closeAll, limitMs, 'no answer in time')
  await Promise.all(connections.map(run))
  clearTimeout(timer)
  closeAll('the load is over')
  const tookMs = Math.min(endsAt, exhaustedAt) - countsFrom
  return { sent, ok, errors, perSecond: (counted / tookMs) * 1_000 }
}

/** Undefined for the one answer that is none. */
function errorOf({ status, body }: Reply): string | undefined {
  if (status !== 200) return `HTTP ${status}`
  return body === 'ok' ? undefined : `200 ${body.slice(0, 40)}`
}
