// Faults that tests and people switch on, for every order or for one. Pure.

/** All are off by default. */
export interface Faults {
  /** Delays each response. */
  slowMs?: number
  /** The request takes effect, but the response never comes: the worst kind of timeout. */
  timeout?: boolean
  /** The request has no effect, and the response is an HTML page with this status. */
  outage?: number
  /** Limits `slowMs`, `timeout` and `outage` to these endpoints. */
  endpoints?: string[]
  /** Limits `slowMs`, `timeout` and `outage` to this many requests. */
  times?: number
  /** The number of times that a webhook is sent, all at once. */
  copies?: number
  /** Delays each webhook. */
  lateMs?: number
  /** Moves the time in a webhook into the past. */
  ageMs?: number
  /** After each webhook, one with the previous state is sent. */
  outOfOrder?: boolean
  /** The payment is paid and its webhook answered before the response to the charge. */
  beforeAnswer?: boolean
  /** The paid amount, instead of the requested one. */
  amount?: number
  currency?: string
  /** A webhook is changed after it was signed. FIB does not sign: there it has an unknown id. */
  tampered?: boolean
  /** The token of a webhook has `alg: none` and no signature; Stripe's has only `v0`. */
  algNone?: boolean
  /** Webhooks are not sent. */
  lost?: boolean
  /** Refunds are accepted, and fail later. */
  refundFails?: boolean
}

export interface FaultPlan {
  /** For every order. */
  all: Faults
  /** By reference, external reference or payment id of an order. They override `all`. */
  orders: Record<string, Faults>
}

/** The type of each value. The compiler requires an entry for each fault. */
const KINDS: Record<
  keyof Faults,
  'flag' | 'ms' | 'amount' | 'count' | 'status' | 'text' | 'texts'
> = {
  slowMs: 'ms',
  timeout: 'flag',
  outage: 'status',
  endpoints: 'texts',
  times: 'count',
  copies: 'count',
  lateMs: 'ms',
  ageMs: 'ms',
  outOfOrder: 'flag',
  beforeAnswer: 'flag',
  amount: 'amount',
  currency: 'text',
  tampered: 'flag',
  algNone: 'flag',
  lost: 'flag',
  refundFails: 'flag',
}

export type ReadPlan = { ok: true; plan: FaultPlan } | { ok: false; sentence: string }

/**
 * Reads `{all, orders}` from JSON. Refuses unknown names: a misspelt fault would have no effect.
 */
export function readPlan(value: unknown): ReadPlan {
  if (!isRecord(value)) return refused('The faults must be an object.')
  const { all = {}, orders = {}, ...rest } = value
  const [unknown] = Object.keys(rest)
  if (unknown !== undefined) return refused(`There is no ${unknown}, only all and orders.`)
  if (!isRecord(orders)) return refused('orders must be an object.')
  for (const faults of [all, ...Object.values(orders)]) {
    if (!isRecord(faults)) return refused('The faults of an order must be an object.')
    for (const [name, setting] of Object.entries(faults)) {
      const kind = Object.hasOwn(KINDS, name) ? KINDS[name as keyof Faults] : undefined
      if (kind === undefined) return refused(`There is no fault ${name}.`)
      if (!isOfKind(setting, kind)) return refused(`${name} cannot be ${JSON.stringify(setting)}.`)
    }
  }
  return { ok: true, plan: { all: all as Faults, orders: orders as Record<string, Faults> } }
}

const refused = (sentence: string): ReadPlan => ({ ok: false, sentence })

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function isOfKind(value: unknown, kind: (typeof KINDS)[keyof Faults]): boolean {
  const isWithin = (from: number, to: number) =>
    typeof value === 'number' && Number.isInteger(value) && value >= from && value <= to
  switch (kind) {
    case 'flag':
      return typeof value === 'boolean'
    case 'ms':
      return isWithin(0, 24 * 60 * 60 * 1_000)
    case 'count':
      return isWithin(1, 1_000)
    case 'status':
      return isWithin(200, 599)
    case 'amount':
      return typeof value === 'number' && Number.isFinite(value)
    case 'text':
      return typeof value === 'string'
    case 'texts':
      return Array.isArray(value) && value.every((item) => typeof item === 'string')
  }
}

/** The active faults, and how many requests they have affected. */
export class ActiveFaults {
  #plan: FaultPlan = { all: {}, orders: {} }
  /** The number of affected requests for each set of faults. */
  #affected = new Map<Faults, number>()

  get plan(): FaultPlan {
    return this.#plan
  }

  set(plan: FaultPlan): void {
    this.#plan = plan
    this.#affected = new Map()
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

  #ofOrder(names: readonly (string | undefined)[]): Faults {
    for (const name of names) {
      if (name !== undefined && Object.hasOwn(this.#plan.orders, name)) {
        return this.#plan.orders[name] ?? {}
      }
    }
    return {}
  }
}
