// Payments in this process: the ledger over SQLite in memory, a gateway whose answers the test sets,
// and a clock that the test moves. All events for the host application are recorded.

import { FakeClock, settle } from '../../libraries/testing/fake-clock.ts'
import { type ChargeContext, charge } from '../../worker/payments/charging/charge.ts'
import { cancel } from '../../worker/payments/charging/end.ts'
import { refund } from '../../worker/payments/charging/refund.ts'
import { GatewayUnavailableException } from '../../worker/payments/domain/exceptions.ts'
import {
  EVENT_NAMES,
  type EventName,
  type PaymentStatus,
} from '../../worker/payments/domain/status.ts'
import type {
  FullChargeRequest,
  RefundRequest,
  VerifiedWebhook,
} from '../../worker/payments/domain/types.ts'
import { IN_PROCESS, type Middleware, type OperationContext } from '../../worker/payments/facade.ts'
import type {
  AnyGateway,
  ChargeAnswer,
  GatewayCharge,
  GatewayRefund,
  RefundAnswer,
  StatusAnswer,
} from '../../worker/payments/gateways/gateway.ts'
import { createGuard, type GatewayGuard } from '../../worker/payments/gateways/guard.ts'
import { createRefusals } from '../../worker/payments/ledger/refused-webhooks.ts'
import {
  createDeliverer,
  type Endpoint,
  type Listeners,
  subscribersOf,
} from '../../worker/payments/outbox/deliver.ts'
import { createPayments, type Payments } from '../../worker/payments/payments.ts'
import type { PaymentQueries } from '../../worker/payments/queries/queries-libsql.ts'
import { checkNow } from '../../worker/payments/reconciliation/reconcile.ts'
import type { WebhookAnswer } from '../../worker/payments/webhooks/receive.ts'
import { keptLog, type Logged, paymentsConfig, verified, webhookRequest } from './payments.ts'
import { type ReadableQueries, sqliteLedger } from './sqlite-database.ts'

type Handled = Awaited<ReturnType<AnyGateway['handleWebhook']>>

export interface Script {
  charge: (charge: GatewayCharge) => ChargeAnswer | Promise<ChargeAnswer>
  refund: (refund: GatewayRefund) => RefundAnswer | Promise<RefundAnswer>
  status: () => StatusAnswer
  /** By default, the body of a webhook is the payload as JSON. */
  webhook: (body: string) => Handled | Promise<never>
}

/** What a shop asks for in process, and the routes. */
export const asked = ({ operations }: Payments) => ({
  chargeOrFind: (request: FullChargeRequest, context?: ChargeContext) =>
    charge(operations, request, context),
  charge: async (request: FullChargeRequest, context?: ChargeContext) =>
    (await charge(operations, request, { by: IN_PROCESS, ...context })).response,
  cancel: (id: string, context?: OperationContext) => cancel(operations, id, context),
  refund: (gateway: string, request: RefundRequest, context?: OperationContext) =>
    refund(operations, gateway, request, context),
  checkNow: (id: string, by?: string) => checkNow(operations, id, by),
})
export type Asked = ReturnType<typeof asked>

export interface PaymentsSetup {
  guard: GatewayGuard
  payments: { queries: ReadableQueries } & Payments & Asked
  script: Script
  clock: FakeClock
  /** The events for the host application, in order. */
  events: { name: EventName; payload: unknown }[]
  eventNames(): EventName[]
  lines: Logged[]
  charged: GatewayCharge[]
  refunded: GatewayRefund[]
  /** Sends a webhook of the gateway: Paid, 25,000 IQD, unless `payload` has other fields. */
  webhook(payload?: Partial<VerifiedWebhook>): Promise<WebhookAnswer>
  /** Waits until background work is done or waits for the clock. */
  quiet(): Promise<void>
}

interface PaymentsOptions {
  onMismatch?: 'log' | 'reject'
  gateway?: object
  /** The endpoint that receives events. */
  endpoint?: Endpoint
  /** Without it, every fetch fails. */
  fetch?: typeof fetch
  /** Runs before each call of the ledger and of the real guard. */
  wait?: (method: string, clock: FakeClock, args: readonly unknown[]) => Promise<void>
  /** Default: the real one. */
  guard?: GatewayGuard
  /** In place of those that record their events. */
  listeners?: Listeners
  /** False: what failed is dispatched by a sweep alone. */
  isWoken?: boolean
  /** In place of the real ones. */
  queries?: Partial<PaymentQueries>
  routePrefix?: string
  /** Added inside `api`. */
  middleware?: readonly Middleware[]
}

export const unavailable = (): never => {
  throw new GatewayUnavailableException('There is no answer.')
}

/** The gateway's answer to a status check. */
export const reported = (status: PaymentStatus, more: object = {}) =>
  ({ known: true, status, amount: 25_000, currency: 'IQD', raw: {}, ...more }) as StatusAnswer

export function setUpPayments(own: PaymentsOptions = {}): PaymentsSetup {
  const clock = new FakeClock()
  const events: PaymentsSetup['events'] = []
  const { log, lines } = keptLog()
  const charged: GatewayCharge[] = []
  const refunded: GatewayRefund[] = []
  const script: Script = {
    charge: ({ externalReferenceId }) => ({
      ok: true,
      gatewayTransactionId: `gateway-${externalReferenceId}`,
      redirectUrl: 'https://bank.example/pay',
    }),
    refund: () => ({ ok: true, isDone: true, gatewayRefundId: 'back-1' }),
    status: () => ({ known: false }),
    webhook: (body) => JSON.parse(body) as VerifiedWebhook,
  }
  const gateway: AnyGateway = {
    key: 'bank',
    privateFields: ['payer'],
    echoedFields: ['order'],
    currencies: ['IQD'],
    chargeRepeatableForMs: Number.MAX_SAFE_INTEGER,
    refunds: 'partial',
    async charge(charge) {
      charged.push(charge)
      return script.charge(charge)
    },
    async refund(refund) {
      refunded.push(refund)
      return script.refund(refund)
    },
    checkStatus: async () => script.status(),
    handleWebhook: async ({ body }) => script.webhook(body),
    ...own.gateway,
  }
  const gateways = new Map([['bank', gateway]])
  const record = EVENT_NAMES.map((name) => [
    name,
    (payload: unknown) => void events.push({ name, payload }),
  ])
  const listeners: Listeners = { ...Object.fromEntries(record), ...own.listeners }
  const noFetch = () => Promise.reject(new Error('unexpected fetch'))
  const fetch = own.fetch ?? noFetch
  /** As if it were in an object, which may be slow or out of reach. */
  const remote = <Part extends object>(part: Part): Part =>
    new Proxy(part, {
      get(target, method) {
        const call = target[method as keyof Part] as (...args: unknown[]) => unknown
        return async (...args: unknown[]) => {
          await own.wait?.(String(method), clock, args)
          return await call(...args)
        }
      },
    })
  const guard = own.guard ?? remote(createGuard({ gateways, clock, store: new Map(), fetch, log }))
  const { endpoint } = own
  const deliverer = createDeliverer({ listeners, endpoint, clock, log, fetch })
  const subscribers = subscribersOf(listeners, endpoint)
  let cancelWake: () => void = () => undefined
  const wakeAt = (at: number) => {
    cancelWake()
    if (own.isWoken ?? true)
      cancelWake = clock.after(Math.max(0, at - clock.now()), () => made.dispatchLater())
  }
  const { ledger, queries } = sqliteLedger({
    subscribers,
    deliver: deliverer.deliver,
    wakeAt,
    clock,
    log,
  })
  const pending: Promise<unknown>[] = []
  const made = createPayments({
    config: paymentsConfig({
      gateways,
      accounts: new Map([['bank', { driver: 'redirect', isLocal: true }]]),
      realGateways: new Set(),
      installation: undefined,
      routePrefix: own.routePrefix ?? 'payments/webhooks',
      middleware: ['api', ...(own.middleware ?? [])],
      operations: { onMismatch: own.onMismatch ?? 'log' },
      listeners,
      endpoint,
    }),
    ledger: remote(ledger),
    guard,
    refusals: remote(createRefusals(clock)),
    queries: { ...queries, ...own.queries },
    deliverer,
    clock,
    log,
    fetch,
    keepAlive: (work) => void pending.push(work),
  })
  return {
    payments: { ...made, ...asked(made), queries },
    guard,
    script,
    clock,
    events,
    eventNames: () => events.map(({ name }) => name),
    lines,
    charged,
    refunded,
    webhook(payload = {}) {
      const body = JSON.stringify(verified({ occurredAt: clock.now(), ...payload }))
      return made.receive('bank', webhookRequest(body, clock.now()), 'webhook-1')
    },
    async quiet() {
      while (pending.length > 0) await Promise.all(pending.splice(0))
      await settle()
    },
  }
}
