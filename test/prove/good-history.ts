// A history in which every promise holds, as the recorder writes one: two clients, of which one
// resumes, and three payments. Tests spoil it.

export type Line = Record<string, unknown> & { kind: string }

const money = (amount: number) => ({ amount, currency: 'IQD' })
const tasks = (versions: Record<string, number | null>) => ({ tasks: versions })
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
  read(client, 1, { isWhole: true, ...tasks({ 'T-1': 1, 'T-2': 2 }) }),
  read(client, 1, { isWhole: true, sessions: { ses_1: 3 } }),
]

const board: Line[] = [
  ...opening('c1'),
  ...opening('c2'),
  { kind: 'write', task: 'T-1', version: 4, how: 'save' },
  message('c1', 2, taskChanged('T-1')),
  read('c1', 2, tasks({ 'T-1': 4 })),
  message('c2', 2, taskChanged('T-1')),
  read('c2', 2, tasks({ 'T-1': 4 })),
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
  status: string
  asked: number
  paid?: number
  refunded?: number
  /** Its events, in their order. */
  walk: [type: string, status: string][]
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
      ['PaymentRefunded', 'Refunded'],
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

function linesOf({ id, status, asked, paid, refunded = 0, walk }: Payment): Line[] {
  const gateway = 'redirect'
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
  const events = walk.map(([type, at]) => {
    return {
      id: `event ${id} ${at}`,
      type,
      payload: { transaction: { ...transaction, status: at } },
    }
  })
  const isOther = paid !== undefined && paid !== asked
  const alert = {
    ...{ id: `alert ${id}`, kind: 'amount_mismatch', transactionId: id },
    detail: { amount: paid },
  }
  if (isOther) {
    const payload = { alert, transaction: { ...transaction, status: 'Paid' } }
    events.push({ id: `event ${alert.id}`, type: 'AlertRaised', payload })
  }
  const refund = { id: `refund ${id}`, status: 'succeeded', amount: refunded }
  const refunds = refunded > 0 ? [refund] : []
  const eventId = `webhook of ${id}`
  const answered = { success: true, refundId: refund.id, refundedAmount: refunded }
  const reference = transaction.reference
  const booking = { id: payment, reference, externalReference, refunded }
  return [
    { kind: 'charge-call', attempt: externalReference, tookMs: 1, status: 201 },
    { kind: 'charge', status: 201, body: { transactionId: id } },
    { kind: 'webhook', gateway, payment, eventId, status: 200, answer: 'ok' },
    ...refunds.flatMap((): Line[] => [
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
    { kind: 'stored', transaction: { ...transaction, events, refunds } },
    { kind: 'event', event: { gateway, eventId, gatewayTransactionId: payment } },
    ...(isOther ? [{ kind: 'alert', alert }] : []),
  ]
}

/** A new one each time, to be spoiled. */
export const goodHistory = (): Line[] =>
  structuredClone([
    { kind: 'run', seed: 1, host: 'workerd', clients: ['c1', 'c2'] },
    ...board,
    { kind: 'files', ...tasks({ 'T-1': 4 }), sessions: { ses_1: 5 } },
    ...PAYMENTS.flatMap(linesOf),
    { kind: 'rest' },
  ])

export const textOf = (lines: readonly Line[]): string =>
  lines.map((line, t) => `${JSON.stringify({ t, ...line })}\n`).join('')
