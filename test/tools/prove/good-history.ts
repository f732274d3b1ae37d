// A history in which every promise holds, as the recorder writes one: two clients, of which one
// resumes, and three payments. Tests spoil it.

export type Line = Record<string, unknown> & { kind: string }

const money = (amount: number) => ({ amount, currency: 'IQD' })
const tasks = (versions: Record<string, number | null>) => ({ tasks: versions })
const withStatuses = (statuses: Record<string, string | null>) => ({ statuses })
const EPOCH = '0a1b2c3d4e5f'
const id = (n: number): string => `${EPOCH}-${n}`

const read = (client: string, n: number, own: object): Line => ({
  kind: 'read',
  client,
  path: '/api/tasks',
  after: id(n),
  status: 200,
  seq: id(n),
  isWhole: false,
  ...own,
})
const taskChanged = (task: string) => ({ type: 'task-changed', id: task })
const message = (client: string, n: number, data: object): Line => ({
  kind: 'message',
  client,
  id: id(n),
  data,
})

const opening = (client: string): Line[] => [
  { kind: 'connect', client },
  { kind: 'cursor', client, id: id(1) },
  read(client, 1, {
    isWhole: true,
    ...tasks({ 'T-1': 1, 'T-2': 2 }),
    ...withStatuses({ 'T-1': 'open', 'T-2': 'open' }),
  }),
  read(client, 1, { isWhole: true, sessions: { ses_1: 3 } }),
]

const board: Line[] = [
  ...opening('c1'),
  ...opening('c2'),
  { kind: 'write', task: 'T-1', version: 4, how: 'save' },
  message('c1', 2, taskChanged('T-1')),
  read('c1', 2, { ...tasks({ 'T-1': 4 }), ...withStatuses({ 'T-1': 'doing' }) }),
  message('c2', 2, taskChanged('T-1')),
  read('c2', 2, { ...tasks({ 'T-1': 4 }), ...withStatuses({ 'T-1': 'doing' }) }),
  { kind: 'disconnect', client: 'c2' },
  { kind: 'write', task: 'T-2', version: null, how: 'delete' },
  message('c1', 3, taskChanged('T-2')),
  {
    kind: 'read',
    client: 'c1',
    path: '/api/tasks/T-2',
    after: id(3),
    status: 404,
    isWhole: false,
    ...tasks({ 'T-2': null }),
    ...withStatuses({ 'T-2': null }),
  },
  // Not modified: what the client had kept of the list.
  read('c1', 3, { status: 304, isWhole: true, sessions: { ses_1: 3 } }),
  { kind: 'write', session: 'ses_1', version: 5, how: 'save' },
  message('c1', 4, { type: 'session-changed', session: 'ses_1' }),
  read('c1', 4, { isWhole: true, sessions: { ses_1: 5 } }),
  { kind: 'connect', client: 'c2', lastEventId: id(2) },
  // Two messages for two changes, of which only the last has an id.
  { kind: 'message', client: 'c2', data: { type: 'tasks-changed' } },
  message('c2', 4, { type: 'session-changed', session: 'ses_1' }),
  read('c2', 4, { isWhole: true, ...tasks({ 'T-1': 4 }) }),
  read('c2', 4, { isWhole: true, sessions: { ses_1: 5 } }),
]

interface Payment {
  id: string
  gateway?: string
  status: string
  asked: number
  paid?: number
  refunded?: number
  /** Its refunds, where the gateway lists them. */
  rows?: { id: string; status: string; amount: number; name?: string }[]
  /** Its events, in their order, and the refunded sum where it changed. */
  walk: [type: string, status: string, refunded?: number][]
}

const PAYMENTS: Payment[] = [
  {
    id: 'tx-1',
    status: 'Refunded',
    asked: 25_000,
    paid: 25_000,
    refunded: 25_000,
    walk: [
      ['PaymentInitiated', 'Pending'],
      ['PaymentSucceeded', 'Paid'],
      ['PaymentRefunded', 'Refunded', 25_000],
    ],
  },
  // A part, then more of it, and then the first part has failed.
  {
    id: 'tx-4',
    gateway: 'stripe',
    status: 'PartiallyRefunded',
    asked: 9_000,
    paid: 9_000,
    refunded: 2_000,
    rows: [
      { id: 'desk tx-4', status: 'failed', amount: 3_000 },
      { id: 'refund tx-4', status: 'succeeded', amount: 2_000, name: 'ours' },
    ],
    walk: [
      ['PaymentInitiated', 'Pending'],
      ['PaymentSucceeded', 'Paid'],
      ['PaymentRefunded', 'PartiallyRefunded', 3_000],
      ['RefundAmountChanged', 'PartiallyRefunded', 5_000],
      ['RefundAmountChanged', 'PartiallyRefunded', 2_000],
    ],
  },
  {
    id: 'tx-2',
    status: 'Paid',
    asked: 10_000,
    paid: 9_000,
    walk: [
      ['PaymentInitiated', 'Pending'],
      ['PaymentSucceeded', 'Paid'],
    ],
  },
  {
    id: 'tx-3',
    status: 'Failed',
    asked: 5_000,
    walk: [
      ['PaymentInitiated', 'Pending'],
      ['PaymentFailed', 'Failed'],
    ],
  },
]

function linesOf(own: Payment): Line[] {
  const { id, gateway = 'redirect', status, asked, paid, refunded = 0, rows, walk } = own
  const payment = `gateway ${id}`
  const externalReference = `external ${id}`
  const transaction = {
    id,
    gateway,
    reference: `order of ${id}`,
    gatewayTransactionId: payment,
    externalReferenceId: externalReference,
    ...money(asked),
    status,
    ...(paid !== undefined && { paid: money(paid) }),
    refundedAmount: refunded,
  }
  const sums = walk.map(([, , sum]) => sum)
  const events = walk.map(([type, at, sum = 0], step) => {
    const refundRevision = sums.slice(0, step + 1).filter((each) => each !== undefined).length
    const previous = type === 'RefundAmountChanged' && { previousRefundedAmount: sums[step - 1] }
    const told = { ...transaction, status: at, refundedAmount: sum, refundRevision }
    const name = [id, at, ...(previous ? [refundRevision] : [])].join(' ')
    return { id: `event ${name}`, type, payload: { transaction: told, ...previous } }
  })
  const isOther = paid !== undefined && paid !== asked
  const alert = {
    id: `alert ${id}`,
    kind: 'amount_mismatch',
    transactionId: id,
    detail: { amount: paid },
    createdAt: 'then',
  }
  if (isOther) {
    const told = { ...transaction, status: 'Paid', refundRevision: 0 }
    const payload = { alert, transaction: told }
    events.push({ id: `event ${alert.id}`, type: 'AlertRaised', payload })
  }
  const refund = { id: `refund ${id}`, status: 'succeeded', amount: refunded }
  const listed = rows?.map(({ name: _, ...row }) => ({ ...row, gatewayRefundId: row.id }))
  const refunds = listed ?? (refunded > 0 ? [refund] : [])
  const eventId = `webhook of ${id}`
  const answered = { success: true, refundId: refund.id, refundedAmount: refunded }
  const reference = transaction.reference
  const booking = { id: payment, reference, externalReference, refunded, refunds: rows }
  const stored = { ...transaction, events, refunds, alerts: [] }
  return [
    { kind: 'charge-call', attempt: externalReference, tookMs: 1, status: 201 },
    { kind: 'charge', status: 201, body: { transactionId: id } },
    ...(status === 'Failed' ? [{ kind: 'cancel', transactionId: id, status: 200 }] : []),
    { kind: 'webhook', gateway, payment, eventId, status: 200, answer: 'ok' },
    ...refunds.slice(-1).flatMap((): Line[] => [
      { kind: 'refund-call', payment, tookMs: 1, status: 200 },
      { kind: 'refund', transactionId: id, status: 200, body: answered },
      { kind: 'seen', transaction: { id, refunds } },
    ]),
    ...events.flatMap(({ type, id: eventId, payload }): Line[] => [
      { kind: 'listener', type, status: 200, ...payload },
      { kind: 'endpoint', type, id: eventId, tookMs: 1, status: 204, ...payload },
    ]),
    {
      kind: 'booking',
      gateway,
      payment: { ...booking, ...(paid !== undefined && { paid: money(paid) }) },
    },
    { kind: 'stored', transaction: stored },
    ...[paid ?? 0, -refunded]
      .filter((amount) => amount !== 0)
      .map((amountMinor): Line => {
        const movement = { kind: amountMinor > 0 ? 'paid' : 'refunded', transactionId: id }
        return { kind: 'movement', movement: { ...movement, amountMinor } }
      }),
    { kind: 'event', event: { gateway, eventId, gatewayTransactionId: payment } },
    ...(isOther ? [{ kind: 'alert', alert }] : []),
  ]
}

/** A new one each time, to be spoiled. */
const claim = (task: string, n: number, own: object = {}): Line => ({
  kind: 'claim',
  claimer: `agent-${n}`,
  task,
  generation: n,
  known: n - 1,
  beganAt: n * 1_000,
  expiresAt: n * 1_000 + 10_000,
  ...own,
})
const renewal = (generation: number, status: number, expiresAt?: number): Line => ({
  kind: 'renewal',
  generation,
  status,
  ...(expiresAt !== undefined && { expiresAt }),
})

const claims: Line[] = [
  claim('T-3', 1),
  renewal(1, 200, 15_000),
  { kind: 'release', generation: 1 },
  // It falls silent.
  claim('T-3', 2),
  // A task is away for a while, and is its holder's again.
  { kind: 'write', task: 'K-1', version: -1 },
  claim('K-1', 12),
  { kind: 'write', task: 'K-1', version: null },
  renewal(12, 200, 23_000),
  { kind: 'write', task: 'K-1', version: -1 },
  { kind: 'returned', generation: 12, how: 'away', awayMs: 90, isHeld: true },
  { kind: 'inherited', generation: 12, isGiven: true },
  // Another one has the task, once the lease is over; the first comes back late.
  claim('T-3', 13),
  renewal(2, 410),
  renewal(13, 200, 24_000),
  { kind: 'release', generation: 13 },
  { kind: 'left', generation: 1, health: 'canceled' },
]

const mark = (status: string | null, own: object = {}): Line => ({
  kind: 'mark',
  task: 'W-1',
  tree: 'tree-1',
  status,
  ...own,
})
const row = (trees: Record<string, string>): Line => ({ kind: 'row', task: 'W-1', trees })

/** A worktree begins a task, finishes it, and has nothing of it any more. */
const trees: Line[] = [
  { kind: 'offered', task: 'W-1', isGiven: true },
  mark('doing', { isSeen: true }),
  row({ 'tree-1': 'doing' }),
  mark(null),
  mark('done', { isSeen: true }),
  row({ 'tree-1': 'done' }),
  mark(null),
  row({}),
]

const told = (task: string, status: (string | null)[]): Line => ({
  kind: 'activity',
  row: { kind: 'status', task, changes: { status } },
})
/** What nobody saw is in it as well. */
const activity: Line[] = [
  { kind: 'activity', row: { kind: 'published' } },
  told('T-1', ['open', 'review']),
  told('T-1', ['review', 'doing']),
  told('T-2', ['open', null]),
]

const at = (seconds: number): string => new Date(1_760_000_000_000 + seconds * 1_000).toISOString()
const notice = (id: string, seconds: number, how: string, task = 'T-1'): Line => ({
  kind: 'notice',
  how,
  id,
  timestamp: at(seconds),
  causes: [{ on: 'stalled', task, since: at(seconds - 1) }],
})
const tellOf = (id: string): Line => ({ kind: 'delivery', delivery: { id, state: 'delivered' } })
/** One was lost on its way, and the same cause came again after more than ten minutes. */
const notices: Line[] = [
  notice('ntc_1', 10, 'loses'),
  notice('ntc_1', 10, 'takes'),
  notice('ntc_2', 20, 'takes', 'T-2'),
  notice('ntc_3', 700, 'takes'),
  ...['ntc_1', 'ntc_2', 'ntc_3'].map(tellOf),
]

export function goodHistory(): Line[] {
  const payments = PAYMENTS.flatMap(linesOf)
  const stored = payments.filter(({ kind }) => kind === 'stored')
  return structuredClone([
    { kind: 'run', seed: 1, host: 'workerd', clients: ['c1', 'c2'] },
    ...board,
    ...claims,
    ...trees,
    { kind: 'files', ...tasks({ 'T-1': 4 }), sessions: { ses_1: 5 } },
    ...payments,
    ...activity,
    ...notices,
    { kind: 'jump', days: 200 },
    ...stored.map((line): Line => ({ ...line, kind: 'later' })),
    { kind: 'rest' },
  ])
}

export const textOf = (lines: readonly Line[]): string =>
  lines.map((line, t) => `${JSON.stringify({ t, ...line })}\n`).join('')
