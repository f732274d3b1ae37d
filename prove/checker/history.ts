// A history: what an outsider saw of one run, one JSON object a line, in the order in which it was
// seen. This file only reads it; docs/reliability.md describes each kind of line.

/** By id: a number that rises with each write of the file, and stands in it. Null: no file. */
export type Versions = Record<string, number | null>

export type BoardMessage =
  | { type: 'task-changed'; id: string }
  | { type: 'tasks-changed' }
  | { type: 'session-changed'; session: string }

export interface Money {
  amount: number
  currency: string
}

/** A transaction with all that the API tells of it. */
export interface Story extends Money {
  id: string
  gateway: string
  gatewayTransactionId?: string
  externalReferenceId?: string
  reference: string
  status: string
  paid?: Money
  refundedAmount: number
  /** Lifecycle events, oldest first. */
  events: { id: string; type: string; payload: { transaction: { id: string; status: string } } }[]
}

export interface Alert {
  kind: string
  transactionId?: string
  detail: { reference?: string; amount?: number }
}

/** What the gateway's own books say of one payment. Without `paid` nothing came in. */
export interface Booking {
  id: string
  reference?: string
  externalReference?: string
  paid?: Money
  refunded: number
}

/** What every line has. `line` counts from 1; `t` is ms since the run began. */
interface Seen {
  line: number
  t: number
}

/** Lines of other kinds (run, fault, write, refund) are for whoever reads the history. */
export interface Lines {
  connect: Seen & { client: string; lastEventId?: string }
  disconnect: Seen & { client: string }
  /** A block of the stream with an id and no message. */
  cursor: Seen & { client: string; id: string }
  /** Without an id: the next one of the same stream stands for both. */
  message: Seen & { client: string; id?: string; data: BoardMessage }
  read: Seen & {
    client: string
    /** The last id that the client had when it asked. */
    after?: string
    seq?: string
    /** All of them, not one. */
    isWhole: boolean
    /** Missing where nothing came: a 304, or no answer. */
    tasks?: Versions
    sessions?: Versions
  }
  /** At rest: what the disk holds. */
  files: Seen & { tasks: Versions; sessions: Versions }

  charge: Seen & { body: { transactionId?: string } | null }
  webhook: Seen & {
    gateway: string
    /** The gateway's name for it. */
    payment: string
    /** Missing where the gateway sends none. */
    eventId?: string
    /** 0: there was no answer. */
    status: number
    answer: string
  }
  listener: Seen & { type: string; transaction: { id: string; status: string } }
  endpoint: Seen & { type: string; id: string; status: number }
  // At rest: all of the gateways' books, and all that the API tells.
  booking: Seen & { gateway: string; payment: Booking }
  stored: Seen & { transaction: Story }
  event: Seen & { event: { gateway: string; eventId: string; gatewayTransactionId?: string } }
  alert: Seen & { alert: Alert }
  /** Always the last line. */
  rest: Seen
}

type Kind = keyof Lines
type Line = { [K in Kind]: Lines[K] & { kind: K } }[Kind]

/** Which promise was broken (a to g), and the line that shows it. */
export interface Finding {
  check: string
  line: number
  what: string
}

export interface History {
  lines: Line[]
  of<K extends Kind>(kind: K): Lines[K][]
}

/** Throws where a line is not JSON. */
export function readHistory(text: string): History {
  const lines = text.split('\n').flatMap((json, at): Line[] => {
    if (json === '') return []
    try {
      return [{ ...(JSON.parse(json) as Line), line: at + 1 }]
    } catch (cause) {
      throw new Error(`line ${at + 1} is not JSON`, { cause })
    }
  })
  return {
    lines,
    of: <K extends Kind>(kind: K) =>
      lines.filter((line) => line.kind === kind) as unknown as Lines[K][],
  }
}

/** Every id of the stream is `<epoch>-<n>`, and n counts the changes of the board. */
export function position(id: string): { epoch: string; n: number } {
  const at = id.lastIndexOf('-')
  return { epoch: id.slice(0, at), n: Number(id.slice(at + 1)) }
}
