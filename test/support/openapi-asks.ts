// An edge with a board and payments, with a request that succeeds and one that fails for every
// operation.

import { BUCKETS, WIRE } from '../../worker/board/wire.ts'
import { InvalidWebhookSignatureException } from '../../worker/payments/domain/exceptions.ts'
import type { VerifiedWebhook } from '../../worker/payments/domain/types.ts'
import {
  boardReport,
  freshHash,
  publishedRepo,
  runRecord,
  sessionRecord,
  syncRoot,
  taskRecord,
  token,
} from './edge.ts'
import { processEdge } from './in-process-edge.ts'
import { jsonOf } from './json-of.ts'
import { request, verified } from './payments.ts'
import { setUpPayments } from './payments-setup.ts'

export const ORDER = {
  ...request({ description: 'A lamp' }),
  metadata: { size: 'small' },
  returnUrl: 'https://shop.example/',
}

export const posted: { type: string }[] = []
export const setup = setUpPayments({
  endpoint: { url: 'https://shop.example/events', secrets: [`whsec_${btoa('x'.repeat(32))}`] },
  fetch: async (_url, init) => {
    posted.push(JSON.parse(String(init?.body)))
    return new Response(null, { status: 204 })
  },
})
setup.script.webhook = (body) =>
  body === 'forged'
    ? Promise.reject(new InvalidWebhookSignatureException('It is forged.'))
    : (JSON.parse(body) as VerifiedWebhook)
export const edge = processEdge({ payments: setup.payments })
export const bearer = async (scope: string) => `Bearer ${await token({ scope, repos: ['*'] })}`
const everything = await bearer(
  'board:read board:write board:work board:lead payments:read payments:write',
)

/** A board with one task, which has a run and a session. */
const board = await publishedRepo(edge, [
  taskRecord('A-1', {
    assignee: 'ann',
    body: 'Text',
    checks: [{ desc: 'It works', cmd: 'true' }],
    extra: { points: 3 },
    provenance: [{ who: 'ann', at: 'today', did: 'made' }],
  }),
  runRecord('A-1', '20260101-100000.000'),
  sessionRecord('ses_1', { live: { heartbeatAt: '2026-01-01T10:00:00Z' } }),
  {
    kind: 'board',
    id: 'board',
    hash: freshHash(),
    board: { layout: 'cairn', states: ['backlog', 'done'], closed: ['done'] },
  },
])

await board.sync({
  ...syncRoot(board.run, { root: freshHash() }),
  notices: [{ on: 'stalled', to: { command: '0123456789abcdef' } }],
})

export const SYNC_PATH = `/api/sync?path=${encodeURIComponent(board.path)}`
const { run } = board
const sum = freshHash()
export const SYNC_STEPS = [
  { step: 'root', run, root: sum, store: { state: 'present', layout: 'cairn', version: '1' } },
  { step: 'buckets', run, buckets: new Array<string>(BUCKETS).fill(sum) },
  { step: 'entries', run, batch: 9, more: false, buckets: { 0: { 'task:A-1': sum } } },
  { step: 'end', run },
].map((body) => ({ wire: WIRE, ...body }))

export interface Ask {
  path: string
  status: number
  body?: unknown
  headers?: Record<string, string>
}

export async function send(route: string, { path, body, headers }: Ask, to = edge) {
  const [method = ''] = route.split(' ')
  return await to.fetch(path, {
    method,
    headers: {
      ...(headers?.Cookie === undefined && { Authorization: everything }),
      'Content-Type': 'application/json',
      ...headers,
    },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
}

/** The ids of existing records, for the paths of the requests. */
export const known = { transaction: '', ended: '', alert: '', delivery: '', event: '', tag: '' }

/** A payment of another amount than requested, so that there is an alert, and one that failed. */
export async function makeRecords(): Promise<void> {
  const charged = await send('POST', { path: '/api/payments/charges', status: 201, body: ORDER })
  const { transactionId, gatewayTransactionId = '' } = await jsonOf<Record<string, string>>(
    charged,
    201,
  )
  known.transaction = transactionId ?? ''
  const body = webhookBody({ gatewayTransactionId, amount: 20_000 })
  await send('POST', { path: '/payments/webhooks/bank', status: 200, body })
  const other = { path: '/api/payments/charges', status: 201, body: { ...ORDER, reference: '2' } }
  const failed = await jsonOf<Record<string, string>>(await send('POST', other), 201)
  known.ended = failed.transactionId ?? ''
  const { gatewayTransactionId: failedThere = '' } = failed
  const end = webhookBody({ gatewayTransactionId: failedThere, status: 'Failed' })
  await send('POST', { path: '/payments/webhooks/bank', status: 200, body: end })
  await setup.quiet()
  const { alerts, events, webhookEvents } = await jsonOf<{
    webhookEvents: [{ id: string }]
    alerts: [{ id: string }]
    events: [{ deliveries: [{ id: string }] }]
  }>(await send('GET', { path: `/api/payments/transactions/${transactionId}`, status: 200 }), 200)
  known.alert = alerts[0].id
  known.event = webhookEvents[0].id
  known.delivery = events[0].deliveries[0].id
  known.tag = (await edge.fetch('/openapi.json')).headers.get('ETag') ?? ''
}

const webhookBody = (fields: Partial<VerifiedWebhook>) =>
  JSON.stringify(
    verified({
      gatewayTransactionId: 'unknown',
      reference: 'order-1',
      raw: { id: 1 },
      occurredAt: setup.clock.now(),
      ...fields,
    }),
  )

const [CLAIM, OTHER] = ['A'.repeat(22), 'B'.repeat(22)]

/** A successful and a failed response of every operation. */
export const ASKS: Record<string, () => [good: Ask, bad: Ask]> = {
  'GET /openapi.json': () => [
    { path: '/openapi.json', status: 200 },
    { path: '/openapi.json', status: 304, headers: { 'If-None-Match': known.tag } },
  ],
  'POST /mcp': () => [
    {
      path: '/mcp',
      status: 200,
      body: { jsonrpc: '2.0', id: 1, method: 'ping' },
    },
    { path: '/mcp', status: 403, headers: { Origin: 'https://evil.example' }, body: {} },
  ],
  'POST /payments/webhooks/:gateway': () => [
    { path: '/payments/webhooks/bank', status: 200, body: webhookBody({}) },
    { path: '/payments/webhooks/other', status: 404, body: '{}' },
  ],
  'POST /payments/webhooks/:gateway/callback': () => [
    { path: '/payments/webhooks/bank/callback', status: 200, body: webhookBody({}) },
    { path: '/payments/webhooks/bank/callback', status: 401, body: 'forged' },
  ],
  'POST /api/session': () => [
    {
      path: '/api/session',
      status: 201,
      headers: { Origin: edge.origin },
      body: { token: everything.slice('Bearer '.length) },
    },
    { path: '/api/session', status: 400, headers: { Origin: edge.origin }, body: {} },
  ],
  'GET /api/session': () => [
    { path: '/api/session', status: 200 },
    { path: '/api/session', status: 401, headers: { Authorization: 'Basic x' } },
  ],
  'DELETE /api/session': () => [
    { path: '/api/session', status: 204 },
    { path: '/api/session', status: 401, headers: { Authorization: 'Basic x' } },
  ],
  ...ofBoard({
    'GET /events': () => [
      { path: '/events', status: 200 },
      { path: '/events?path=', status: 400 },
    ],
    'POST /tickets': () => [
      { path: '/tickets', status: 201 },
      { path: '/tickets?path=', status: 400 },
    ],
    'GET /tasks': () => [
      { path: '/tasks?assignee=ann', status: 200 },
      { path: '/tasks?ready=maybe', status: 400 },
    ],
    'GET /tasks/:id': () => [
      { path: '/tasks/A-1', status: 200 },
      { path: '/tasks/A-2', status: 404 },
    ],
    'GET /tasks/:id/runs': () => [
      { path: '/tasks/A-1/runs', status: 200 },
      { path: '/tasks/A-2/runs', status: 404 },
    ],
    'GET /tasks/:id/sessions': () => [
      { path: '/tasks/A-1/sessions', status: 200 },
      { path: '/tasks/A-2/sessions', status: 404 },
    ],
    'GET /sessions': () => [
      { path: '/sessions?health=active', status: 200 },
      { path: '/sessions?state=active', status: 400 },
    ],
    'GET /activity': () => [
      { path: '/activity', status: 200 },
      { path: '/activity?since=tomorrow', status: 400 },
    ],
    'GET /sessions/:id': () => [
      { path: '/sessions/ses_1', status: 200 },
      { path: '/sessions/ses_2', status: 404 },
    ],
    'GET /status': () => [
      { path: '/status', status: 200 },
      { path: '/status', status: 304, headers: { 'If-None-Match': '*' } },
    ],
    'PUT /boards': () => [
      { path: '/boards', status: 200, body: boardReport() },
      { path: '/boards', status: 400, body: boardReport({ title: '' }) },
    ],
    'DELETE /boards': () => [
      { path: '/boards', status: 409 },
      { path: '/boards?all=1', status: 400 },
    ],
    'GET /board-settings': () => [
      { path: '/board-settings', status: 200 },
      { path: '/board-settings?x=1', status: 400 },
    ],
    'GET /notices': () => [
      { path: '/notices', status: 200 },
      { path: '/notices?x=1', status: 400 },
    ],
    'POST /notices/test': () => [
      { path: '/notices/test', status: 200, body: { on: 'stalled' } },
      { path: '/notices/test', status: 404, body: { on: 'ready' } },
    ],
    'GET /notices/due': () => [
      { path: '/notices/due', status: 200 },
      { path: '/notices/due?x=1', status: 400 },
    ],
    'POST /notices/due': () => [
      { path: '/notices/due', status: 404, body: { id: 'ntc_none' } },
      { path: '/notices/due', status: 400, body: {} },
    ],
    'PUT /board-settings': () => [
      { path: '/board-settings', status: 200, body: { atMost: 9 } },
      { path: '/board-settings', status: 400, body: { atMost: 0 } },
    ],
    'POST /claims': () => [
      {
        path: '/claims',
        status: 201,
        body: { claim: CLAIM, actor: 'ada', task: 'A-1', force: true },
      },
      { path: '/claims', status: 409, body: { claim: OTHER, actor: 'bob', task: 'A-1' } },
    ],
    'POST /claims/renew': () => [
      { path: '/claims/renew', status: 200, body: { claim: CLAIM, progress: 'half of it' } },
      { path: '/claims/renew', status: 404, body: { claim: OTHER } },
    ],
    'POST /claims/release': () => [
      { path: '/claims/release', status: 200, body: { claim: CLAIM, outcome: 'abandoned' } },
      { path: '/claims/release', status: 400, body: { claim: CLAIM, outcome: 'lost' } },
    ],
    'POST /sync': () => [
      { path: '/sync', status: 200, body: { wire: WIRE, step: 'probe' } },
      { path: '/sync', status: 409, body: { wire: 1, step: 'probe' } },
    ],
    'POST /changes': () => [
      { path: '/changes', status: 200, body: board.part({ upserts: [taskRecord('A-1')] }) },
      { path: '/changes', status: 400, body: { wire: WIRE } },
    ],
  }),
  // On workerd alone there is one: test/workerd/sidecar-socket.test.ts.
  'GET /api/sidecar': () => [
    { path: `/api/sidecar?path=${encodeURIComponent(board.path)}&run=1`, status: 404 },
    { path: `/api/sidecar?path=${encodeURIComponent(board.path)}`, status: 400 },
  ],
  'GET /api/boards': () => [
    { path: '/api/boards', status: 200 },
    { path: '/api/boards', status: 304, headers: { 'If-None-Match': '*' } },
  ],
  ...ofPayments({
    'POST /charges': () => [
      { path: '/charges', status: 200, body: ORDER },
      { path: '/charges', status: 422, body: {} },
    ],
    'POST /refunds': () => [
      {
        path: '/refunds',
        status: 200,
        body: { gateway: 'bank', transactionId: known.transaction, amount: 500, reason: 'Broken' },
      },
      { path: '/refunds', status: 422, body: { gateway: 'bank' } },
    ],
    'GET /transactions': () => [
      { path: '/transactions?status=PartiallyRefunded&q=lamp&limit=1', status: 200 },
      { path: '/transactions?state=Paid', status: 400 },
    ],
    'GET /transactions/:id': () => [
      { path: `/transactions/${known.transaction}`, status: 200 },
      { path: '/transactions/other', status: 404 },
    ],
    'POST /transactions/:id/check': () => [
      { path: `/transactions/${known.transaction}/check`, status: 200 },
      { path: '/transactions/other/check', status: 404 },
    ],
    'POST /transactions/:id/cancel': () => [
      { path: `/transactions/${known.ended}/cancel`, status: 200 },
      { path: `/transactions/${known.transaction}/cancel`, status: 409 },
    ],
    'GET /webhook-events': () => [
      { path: '/webhook-events', status: 200 },
      { path: '/webhook-events?outcome=other', status: 422 },
    ],
    'GET /webhook-events/:id': () => [
      { path: `/webhook-events/${known.event}`, status: 200 },
      { path: '/webhook-events/other', status: 404 },
    ],
    'GET /webhook-rates': () => [
      { path: '/webhook-rates?minutes=5', status: 200 },
      { path: '/webhook-rates?minutes=0', status: 422 },
    ],
    'GET /failing-endpoints': () => [
      { path: '/failing-endpoints', status: 200 },
      { path: '/failing-endpoints?all=true', status: 400 },
    ],
    'GET /gateways': () => [
      { path: '/gateways', status: 200 },
      { path: '/gateways?all=true', status: 400 },
    ],
    'GET /alerts': () => [
      { path: '/alerts?all=true', status: 200 },
      { path: '/alerts?limit=many', status: 422 },
    ],
    'GET /audit': () => [
      { path: '/audit?format=csv&after=2026-01-01', status: 200 },
      { path: '/audit?format=xml', status: 422 },
    ],
    'GET /movements': () => [
      { path: '/movements?after=2026-01-01&zone=Asia/Baghdad', status: 200 },
      { path: '/movements?zone=Mars', status: 422 },
    ],
    'GET /movements/days': () => [
      { path: '/movements/days?after=2026-01-01&before=2026-02-01', status: 200 },
      { path: '/movements/days?after=2025-01-01&before=2026-02-01', status: 422 },
    ],
    'POST /reconcile': () => [
      {
        path: '/reconcile',
        status: 200,
        body: {
          gateway: 'bank',
          rows: [
            { type: 'payment', ours: known.transaction, amount: 20_000, currency: 'IQD' },
            { type: 'refund', id: 'nobody', amount: 1, currency: 'IQD' },
          ],
        },
      },
      { path: '/reconcile', status: 422, body: { gateway: 'bank', rows: [] } },
    ],
    'POST /alerts/:id/acknowledge': () => [
      { path: `/alerts/${known.alert}/acknowledge`, status: 200 },
      { path: '/alerts/other/acknowledge', status: 404, body: { gatewayReference: 'bank-7' } },
    ],
    'DELETE /alerts/:id/acknowledge': () => [
      { path: `/alerts/${known.alert}/acknowledge`, status: 200 },
      { path: '/alerts/other/acknowledge', status: 404 },
    ],
    'POST /transactions/:id/notes': () => [
      { path: `/transactions/${known.transaction}/notes`, status: 201, body: { text: 'Called.' } },
      { path: '/transactions/other/notes', status: 404, body: { text: 'Called.' } },
    ],
    'POST /deliveries/:id/redeliver': () => [
      { path: `/deliveries/${known.delivery}/redeliver`, status: 202 },
      { path: '/deliveries/other/redeliver', status: 404 },
    ],
    'POST /failing-endpoints/send-all': () => [
      { path: '/failing-endpoints/send-all', status: 202, body: { endpoint: 'https://a.example' } },
      { path: '/failing-endpoints/send-all', status: 422, body: {} },
    ],
    'POST /pause': () => [
      { path: '/pause', status: 200 },
      { path: '/pause', status: 413, body: 'x'.repeat(70_000) },
    ],
    'POST /resume': () => [
      { path: '/resume', status: 200 },
      { path: '/resume', status: 413, body: 'x'.repeat(70_000) },
    ],
    'POST /sweep': () => [
      { path: '/sweep', status: 200 },
      { path: '/sweep', status: 413, body: 'x'.repeat(70_000) },
    ],
  }),
}

function ofBoard(answers: typeof ASKS): typeof ASKS {
  const within = ({ path, ...ask }: Ask): Ask => {
    const separator = path.includes('?') ? '&' : '?'
    return { path: `/api${path}${separator}path=${encodeURIComponent(board.path)}`, ...ask }
  }
  return prefixed('/api', answers, within)
}

function ofPayments(answers: typeof ASKS): typeof ASKS {
  const base = '/api/payments'
  return prefixed(base, answers, ({ path, ...ask }) => ({ path: `${base}${path}`, ...ask }))
}

function prefixed(base: string, answers: typeof ASKS, within: (ask: Ask) => Ask) {
  return Object.fromEntries(
    Object.entries(answers).map(([route, asks]) => [
      route.replace(' ', ` ${base}`),
      () => asks().map(within) as [Ask, Ask],
    ]),
  )
}
