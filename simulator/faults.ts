// Faults that tests and people switch on, for every order or for one, and their effect on the
// answer to a request. Those of webhooks are in webhooks.ts.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Context } from 'hono'
import * as z from 'zod'
import { DAY_MS } from '../worker/payments/domain/time.ts'
import { namesOf, type Order, type Payment } from './payments.ts'

const flag = z.boolean().exactOptional()
const wholeFrom = (least: number, most: number) => z.int().min(least).max(most).exactOptional()
const ms = wholeFrom(0, DAY_MS)
const count = wholeFrom(1, 1_000)

/** Refuses unknown names: a misspelt fault would have no effect. All are off by default. */
const faultsOfOrder = z.strictObject({
  /** Delays each response. */
  slowMs: ms,
  /** The request takes effect, but the response never comes: the worst kind of timeout. */
  timeout: flag,
  /** The request has no effect, and the response is an HTML page with this status. */
  outage: wholeFrom(200, 599),
  /**
   * The first request that changes something takes effect, but the response is a 502; each further
   * one is refused with 409, in the gateway's form: that of `redirect` has the id of the first.
   */
  answerLost: flag,
  /** Limits `slowMs`, `timeout`, `outage` and `answerLost` to these endpoints. */
  endpoints: z.array(z.string()).exactOptional(),
  /** Limits `slowMs`, `timeout` and `outage` to this many requests. */
  times: count,
  /** The number of times that a webhook is sent, all at once. */
  copies: count,
  /** Delays each webhook. */
  lateMs: ms,
  /** Moves the time in a webhook into the past. */
  ageMs: ms,
  /** After each webhook, one with the previous state is sent. */
  outOfOrder: flag,
  /** The payment is paid and its webhook answered before the response to the charge. */
  beforeAnswer: flag,
  /** The paid amount, instead of the requested one. */
  amount: z.number().exactOptional(),
  currency: z.string().exactOptional(),
  /** A webhook is changed after it was signed. FIB does not sign: there it has an unknown id. */
  tampered: flag,
  /** The token of a webhook has `alg: none` and no signature; Stripe's has only `v0`. */
  algNone: flag,
  /** Webhooks are not sent. */
  lost: flag,
  /** Refunds are accepted, and fail later. */
  refundFails: flag,
})

const planned = z.strictObject({
  /** For every order. */
  all: faultsOfOrder.default({}),
  /** By reference, external reference or payment id of an order. They override `all`. */
  orders: z.record(z.string(), faultsOfOrder).default({}),
})

export type Faults = z.infer<typeof faultsOfOrder>
export type FaultPlan = z.infer<typeof planned>

export type ReadPlan = { ok: true; plan: FaultPlan } | { ok: false; sentence: string }

export function readPlan(value: unknown): ReadPlan {
  const { data: plan, error } = planned.safeParse(value, { error: sentenceOf })
  return plan ? { ok: true, plan } : { ok: false, sentence: error?.issues[0]?.message ?? '' }
}

function sentenceOf(issue: z.core.$ZodRawIssue): string {
  const { code, path = [], input } = issue
  const isPlan = path.length === 0
  if (code === 'unrecognized_keys') {
    const [name] = issue.keys
    return isPlan ? `There is no ${name}, only all and orders.` : `There is no fault ${name}.`
  }
  if (code === 'invalid_type' && issue.expected === 'record') return 'orders must be an object.'
  if (code === 'invalid_type' && issue.expected === 'object') {
    return isPlan ? 'The faults must be an object.' : 'The faults of an order must be an object.'
  }
  // The path of an item of `endpoints` ends in its number.
  const name = path.findLast((part) => typeof part === 'string')
  return `${name} cannot be ${JSON.stringify(input)}.`
}

/** The active faults, and how many requests they have affected. */
export class ActiveFaults {
  #plan: FaultPlan = { all: {}, orders: {} }
  /** The number of affected requests for each set of faults. */
  #affected = new Map<Faults, number>()
  /** The responses that the fault `answerLost` has lost, by endpoint and order. */
  #lost = new Map<string, Response>()
  readonly #conflict: (gateway: string, made: unknown) => Response

  /** `conflict`: the 409 of this gateway for what was made already. */
  constructor(conflict: (gateway: string, made: unknown) => Response) {
    this.#conflict = conflict
  }

  get plan(): FaultPlan {
    return this.#plan
  }

  set(plan: FaultPlan): void {
    this.#plan = plan
    this.#affected = new Map()
    // An order that keeps the fault is still refused while others get theirs.
    const isKept = [plan.all, ...Object.values(plan.orders)].some((faults) => faults.answerLost)
    if (!isKept) this.#lost = new Map()
  }

  /** `names`: all ids of an order, see `namesOf`. */
  of(names: readonly (string | undefined)[]): Faults {
    return { ...this.#plan.all, ...this.#ofOrder(names) }
  }

  /** The faults of one request. It counts towards `times`. */
  ofRequest(endpoint: string, names: readonly (string | undefined)[]): Faults {
    const own = this.#ofOrder(names)
    const source = own.times === undefined ? this.#plan.all : own
    const { times, endpoints, ...faults } = this.of(names)
    if (endpoints !== undefined && !endpoints.includes(endpoint)) return {}
    if (times === undefined) return faults
    const affected = this.#affected.get(source) ?? 0
    if (affected >= times) return {}
    if (faults.slowMs || faults.timeout || faults.outage) this.#affected.set(source, affected + 1)
    return faults
  }

  /**
   * Answers a request with `work`, unless a fault prevents it. `of`: the payment or order that it
   * is about. A request for a token has none.
   */
  async respond(
    c: Context,
    endpoint: string,
    of: Payment | Order | undefined,
    work: () => Response | Promise<Response>,
  ): Promise<Response> {
    const names = of ? namesOf(of) : []
    const { slowMs, outage, timeout, answerLost } = this.ofRequest(endpoint, names)
    if (slowMs) await sleep(slowMs)
    if (outage !== undefined) return outagePage(outage)
    if (answerLost && of && c.req.method === 'POST')
      return await this.#loseAnswer(endpoint, of, work)
    const response = await work()
    if (timeout) await clientGone(c.req.raw.signal)
    return response
  }

  async #loseAnswer(
    endpoint: string,
    { gateway, externalReference, reference }: Payment | Order,
    work: () => Response | Promise<Response>,
  ): Promise<Response> {
    const request = [endpoint, externalReference ?? reference].join(' ')
    const lost = this.#lost.get(request)
    // A refund of FIB has an empty answer.
    if (lost) return this.#conflict(gateway, JSON.parse((await lost.clone().text()) || '{}'))
    this.#lost.set(request, await work())
    return outagePage(502)
  }

  #ofOrder(names: readonly (string | undefined)[]): Faults {
    for (const name of names) {
      if (name !== undefined && Object.hasOwn(this.#plan.orders, name)) {
        return this.#plan.orders[name] ?? {}
      }
    }
    return {}
  }
}

/** As a load balancer in front of the gateway answers: HTML, even for a JSON API. */
const outagePage = (status: number): Response =>
  new Response(
    '<!doctype html><html><head><title>Service unavailable</title></head>' +
      '<body><h1>We will be back soon</h1><p>Scheduled maintenance.</p></body></html>',
    { status, headers: { 'content-type': 'text/html; charset=utf-8' } },
  )

/** Resolves when the client has closed the connection. */
const clientGone = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve()
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
