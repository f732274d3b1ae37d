// How the gateways misbehave when told to: for every order, or for one. Pure.

/** Each is absent until somebody asks for it. */
export interface Faults {
  /** Answers come this much later. */
  slowMs?: number
  /** It is done, and the answer never comes: the worst that a timeout can mean. */
  timeout?: boolean
  /** Nothing is done, and an HTML page of this status comes. */
  outage?: number
  /** Only these endpoints are slow, time out or are out. */
  endpoints?: string[]
  /** Only so many requests are. */
  times?: number
  /** A webhook is sent so often, all at once. */
  copies?: number
  /** A webhook is sent this much later. */
  lateMs?: number
  /** A webhook says that it happened this much earlier. */
  ageMs?: number
  /** After its webhook comes the one of the state before. */
  outOfOrder?: boolean
  /** The payment is paid, and the webhook answered, before the charge is. */
  beforeAnswer?: boolean
  /** What is paid, instead of what was asked for. */
  amount?: number
  currency?: string
  /** A webhook was changed after it was signed. FIB signs none: it names an unknown payment. */
  tampered?: boolean
  /** A webhook's token says that it needs no signature, and has none. */
  algNone?: boolean
  /** A webhook is never sent. */
  lost?: boolean
  /** A refund is taken, and comes to nothing. */
  refundFails?: boolean
}

export interface FaultPlan {
  /** Of every order. */
  all: Faults
  /** By an order's reference, external reference or payment id; they go before those of all. */
  orders: Record<string, Faults>
}

/** How its values look; the compiler holds it to every fault. */
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

/** `{all, orders}` from JSON. An unknown name is refused: a misspelt fault would never show. */
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

/** What stands now, and how much of it is used up. */
export class FaultBook {
  #plan: FaultPlan = { all: {}, orders: {} }
  /** Requests that each set of faults has spoilt. */
  #spent = new Map<Faults, number>()

  get plan(): FaultPlan {
    return this.#plan
  }

  set(plan: FaultPlan): void {
    this.#plan = plan
    this.#spent = new Map()
  }

  /** `names`: whatever an order can be called by. */
  of(names: readonly (string | undefined)[]): Faults {
    return { ...this.#plan.all, ...this.#ofOrder(names) }
  }

  /** Of one request, which counts as one of `times`. */
  ofRequest(endpoint: string, names: readonly (string | undefined)[]): Faults {
    const own = this.#ofOrder(names)
    const source = own.times === undefined ? this.#plan.all : own
    const { times, endpoints, ...faults } = this.of(names)
    if (endpoints !== undefined && !endpoints.includes(endpoint)) return {}
    if (times === undefined) return faults
    const spent = this.#spent.get(source) ?? 0
    if (spent >= times) return {}
    if (faults.slowMs || faults.timeout || faults.outage) this.#spent.set(source, spent + 1)
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
