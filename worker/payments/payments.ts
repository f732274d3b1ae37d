// Creates the payments of one deployment from its parts. The host application uses `for(order)` and
// `driver(key)`; the routes use the rest.

import type { Clock } from '../shared/clock.ts'
import type { Log } from '../shared/log.ts'
import { type Charge, type ChargeContext, createCharge } from './charging/charge.ts'
import { driverFacade } from './charging/driver.ts'
import { createRefund, type Refund } from './charging/refund.ts'
import type { PaymentsConfig } from './config.ts'
import { InvalidArgumentException } from './domain/exceptions.ts'
import type { AskedCharge, PaymentResponse } from './domain/schemas.ts'
import { chargeBuilder, type PaymentsFacade } from './facade.ts'
import { createCaller } from './gateways/guard/caller.ts'
import type { GatewayHealth } from './gateways/guard/guard.ts'
import { gatewayHealth } from './gateways/guard/guard-process.ts'
import type { Ledger } from './ledger/ledger.ts'
import type { PaymentsMetrics } from './metrics.ts'
import { DUE_BATCH } from './outbox/dispatch.ts'
import { createBackground, type Dispatcher } from './outbox/dispatcher.ts'
import type { PaymentQueries } from './queries/queries.ts'
import { type CheckNow, createCheckNow } from './reconciliation/reconcile.ts'
import { createSweeper, type Sweeper } from './reconciliation/sweeper.ts'
import { createReceiver, type Receive } from './webhooks/receive.ts'
import { routePath, type WebhookRoute } from './webhooks/route-names.ts'

export interface PaymentsDeps {
  config: PaymentsConfig
  ledger: Ledger
  queries: PaymentQueries
  dispatcher: Dispatcher
  clock: Clock
  log: Log
  fetch: typeof fetch
  metrics: PaymentsMetrics
  /** Lets work go on after the answer to its request. */
  keepAlive: (work: Promise<unknown>) => void
}

export interface Payments extends PaymentsFacade {
  config: PaymentsConfig
  charge(request: AskedCharge, context?: ChargeContext): Promise<PaymentResponse>
  /** Like `charge`, and says whether the payment is new. */
  chargeOrFind: Charge
  refund: Refund
  receive: Receive
  ledger: Ledger
  queries: PaymentQueries
  /** In the order of the configuration. */
  gateways(): Promise<GatewayHealth[]>
  checkNow: CheckNow
  sweeper: Sweeper
  /** Starts a sweep and does not wait for it. */
  sweepLater(): void
  /** Starts to dispatch the events that are due, and does not wait for it. */
  dispatchLater(): void
}

export function createPayments(deps: PaymentsDeps): Payments {
  const { config, queries, clock, log, metrics } = deps
  const ledger = metrics.ledger(deps.ledger)
  const { gateways, accounts, onMismatch, toleranceMs } = config
  const background = createBackground(deps)
  const caller = createCaller({
    guard: ledger,
    clock,
    log,
    fetch: deps.fetch,
    onTimeout: (timeout) => background.pass('GatewayTimeout', timeout),
    onOpened: (opened) => background.pass('CircuitOpened', opened),
  })
  const path = (name: WebhookRoute, gateway: string) => routePath(name, config.routePrefix, gateway)
  const callbackUrl = (gateway: string, origin: string | undefined) => {
    const own = config.publicUrl ?? origin
    return own && `${own}${path('payments.webhook', gateway)}`
  }
  const calling = { gateways, ledger, caller, background, onMismatch, clock, log, callbackUrl }
  const chargeOrFind = createCharge(calling)
  const charge: Payments['charge'] = async (request, context) =>
    (await chargeOrFind(request, context)).response
  const refund = createRefund(calling)
  const sweeper = createSweeper({ ...calling, queries: metrics.waiting(queries) })
  return {
    for: (order) => chargeBuilder(order, charge),
    route(name, gateway) {
      if (!gateways.has(gateway)) throw noGateway(gateway)
      return path(name, gateway)
    },
    driver(key) {
      const gateway = gateways.get(key)
      if (!gateway) throw noGateway(key)
      return driverFacade({ ...calling, queries, refund }, gateway)
    },
    config,
    charge,
    chargeOrFind,
    refund,
    receive: metrics.receive(createReceiver({ ...calling, toleranceMs, onMismatch }), clock),
    ledger,
    queries,
    gateways: () => gatewayHealth({ gateways, accounts, guard: ledger }),
    checkNow: createCheckNow(calling),
    sweeper,
    sweepLater: () => background.run(sweeper.sweep()),
    dispatchLater: () => background.run(ledger.dispatchDue({ now: clock.now(), limit: DUE_BATCH })),
  }
}

const noGateway = (key: string) => new InvalidArgumentException(`There is no gateway ${key}.`)
