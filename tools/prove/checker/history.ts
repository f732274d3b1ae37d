// A history: what an outsider saw of one run, one JSON object a line, in the order in which it was
// seen. This file only reads it; docs/reliability.md describes each kind of line.

/** By id: a number that rises with each write of the file, and is in the file. Null: no file. */
export type Versions = Record<string, number | null>
export type BoardMessage = { type: string; id?: string; session?: string }
export type Money = { amount: number; currency: string }
type Status = { id: string; status: string; gateway?: string; reference?: string }
/** `refundRevision` rises with each change of `refundedAmount`. */
type Snapshot = Status & { refundedAmount?: number; refundRevision?: number }
type Alert = { id: string; kind: string; transactionId?: string; detail: Partial<Transaction> } & {
  createdAt: string
  acknowledgedBy?: string
}
type Payload = { transaction: Snapshot; alert?: Alert; previousRefundedAmount?: number }
export type Event = { type?: string } & Partial<Payload>

/** With all that the API has of it; events are the durable ones, oldest first. */
export interface Transaction extends Money, Status {
  gateway: string
  gatewayTransactionId?: string
  externalReferenceId?: string
  reference: string
  paid?: Money
  refundedAmount: number
  events: { id: string; type: string; createdAt?: string; payload: Payload }[]
  refunds: (Status & { gatewayRefundId?: string; amount: number })[]
  alerts: object[]
}

/** What a gateway itself knows of a payment. Without `paid` no money came in. */
export interface Payment {
  id: string
  reference?: string
  externalReference?: string
  paid?: Money
  /** The sum of what went back. */
  refunded: number
  /** How many of its refunds were requested and failed. */
  refused?: number
  /** Each of them, where the gateway lists them. `name`: ours; without, its own staff made it. */
  refunds?: (Status & { amount: number; name?: string })[]
}

/** Without an id (the next id of the stream is for it too) or without data (only an id came). */
type Block = { client: string; id?: string; data?: BoardMessage }
/** `status` 0: there was no answer. A listener gets no id. */
type Delivery = Partial<Payload> & { type: string; id?: string; status: number }

type EventIds = 'transactionId' | 'gatewayTransactionId'

/** Lines of other kinds (sweep, moved) are for people who read the history. Times are in ms. */
interface Kinds {
  run: { clients: string[] }
  fault: { name: string; phase?: 'begin' | 'end'; held?: boolean }
  write: { task?: string; version: number | null }
  /** `known`: the highest generation that was answered before. */
  claim: { claimer: string; task: string; generation: number; known: number } & {
    beganAt: number
    expiresAt: number
  }
  /** Without `expiresAt` it holds nothing any more. */
  renewal: { generation: number; status: number; expiresAt?: number }
  release: { generation: number }
  /** Its task is there and open since a minute. */
  returned: { generation: number; how: 'away' | 'closed'; awayMs: number; isHeld: boolean }
  inherited: { generation: number; isGiven: boolean }
  left: { generation: number; health: string }
  mark: { task: string; tree: string; status: string | null; isSeen?: boolean }
  row: { task: string; trees: Record<string, string> }
  offered: { task: string; isGiven: boolean }
  connect: { client: string; lastEventId?: string }
  message: Block
  cursor: Block
  /** `isWhole`: a list, not one entry. Where there was no answer, nothing was read. */
  read: { client: string; path: string; status: number; after?: string; seq?: string } & {
    isWhole: boolean
    tasks?: Versions
    sessions?: Versions
    /** Of tasks that can be read. Null: the main tree has none. */
    statuses?: Record<string, string | null>
  }
  /** Asked for `tookMs` before the line. */
  charge: { order: string; gateway: string; key?: string; repeat?: boolean; tookMs: number } & {
    status: number
    body: { transactionId?: string } | null
  }
  refund: { body: { refundId?: string } | null }
  cancel: { transactionId: string; status: number }
  jump: object
  later: { transaction: Transaction }
  seen: { transaction: Pick<Transaction, 'id' | 'refunds'> }
  /** `eventId` is missing where the gateway sends none. */
  webhook: { payment: string; eventId?: string; status: number; answer: string } & {
    externalReference?: string
  }
  'charge-call': { attempt: string; tookMs: number; status: number }
  'refund-call': { payment: string; tookMs: number; status: number }
  listener: Delivery
  endpoint: Delivery & { tookMs: number }
  /** `timestamp`: when it was decided, by the edge. */
  notice: {
    id: string
    timestamp: string
    causes: { on: string; task?: string; since: string }[]
    how: 'takes' | 'refuses' | 'hangs' | 'loses'
    forged?: string
  }
  /** `isAhead`: it is tried again in more than half an hour. */
  delivery: { delivery: { id: string; state: 'pending' | 'delivered' | 'failed' } } & {
    isAhead?: boolean
  }
  'at-rest': { since?: string }
  files: { tasks: Versions; sessions: Versions }
  booking: { gateway: string; payment: Payment }
  stored: { transaction: Transaction }
  /** In the order in which they are exported. */
  movement: { movement: { kind: string; transactionId: string; amountMinor: number } }
  event: { event: { eventId: string; outcome: string } & Partial<Record<EventIds, string>> }
  alert: { alert: Alert }
  /** The oldest row first. */
  activity: {
    row: { task?: string; tree?: string; changes?: { status?: (string | null)[] } }
  }
  rest: object
}

export type Kind = keyof Kinds
/** `line` counts from 1; `t` is ms since the run began. */
type Lines = { [K in Kind]: Kinds[K] & { kind: K; line: number; t: number } }
export type Line<K extends Kind = Kind> = Lines[K]

/** Which promise was broken (a to l), and the line that shows it. */
export const finding = (check: string, line: number, what: string) => ({ check, line, what })
export type Finding = ReturnType<typeof finding>

/** One at each of these lines. */
export const findings = <Shown extends { line: number }>(
  check: string,
  shown: readonly Shown[],
  what: (it: Shown) => string,
): Finding[] => shown.map((it) => finding(check, it.line, what(it)))

/** Faults that set a clock by hours. */
export const JUMPS = ['move-clock', 'ahead-clock']

export type History = ReturnType<typeof readHistory>

/** Throws where a line is not JSON. */
export function readHistory(text: string) {
  const lines = text.split('\n').flatMap((json, at): Line[] => {
    try {
      return json === '' ? [] : [{ ...(JSON.parse(json) as Line), line: at + 1 }]
    } catch {
      throw new Error(`line ${at + 1} is not JSON: the history is cut off or damaged`)
    }
  })
  const byKind = Map.groupBy(lines, ({ kind }) => kind)
  const of = <K extends Kind>(kind: K) => (byKind.get(kind) ?? []) as Line<K>[]
  /** Where the first of a kind is. Infinity: there is none. */
  const first = (kind: Kind) => byKind.get(kind)?.[0]?.line ?? Number.POSITIVE_INFINITY
  const clients = lines.flatMap((line) => (line.kind === 'run' ? line.clients : []))
  return { lines, clients, of, first }
}

/** Every id of a stream is `<epoch>-<n>`, and n counts the changes of the board. */
export const numberOf = (id: string): number => Number(id.slice(id.lastIndexOf('-') + 1))

/** How many changes lie between two ids; NaN, which is no step at all, where the epochs differ. */
export function stepsBetween(from: string, to: string): number {
  const [epoch, other] = [from, to].map((id) => id.slice(0, id.lastIndexOf('-')))
  return epoch === other ? numberOf(to) - numberOf(from) : Number.NaN
}

export const isSuccess = (status: number): boolean => status >= 200 && status < 300
