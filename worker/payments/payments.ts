// Creates the payments of one deployment from its parts. The host application uses `for(order)` and
// `driver(key)`; the routes use the rest.

import type { Clock } from '../shared/clock.ts'
import type { Log } from '../shared/log.ts'
import { chargeBuilder, driverFacade } from './charging/in-process.ts'
import type { OperationDeps } from './charging/operation.ts'
import type { PaymentsConfig } from './config/payments-config.ts'
import type { Notify } from './domain/types.ts'
import type { PaymentsFacade, WebhookRoute } from './facade.ts'
import { createClient } from './gateways/client.ts'
import { gatewayOf } from './gateways/gateway.ts'
import type { GatewayGuard } from './gateways/guard.ts'
import type { Ledger } from './ledger/ledger.ts'
import type { Refusals } from './ledger/refused-webhooks.ts'
import { reportMask } from './mask.ts'
import type { Deliverer } from './outbox/deliver.ts'
import { DUE_BATCH } from './outbox/dispatch.ts'
import type { PaymentQueries } from './queries/queries-libsql.ts'
import { createSweeper, type Sweeper } from './reconciliation/sweeper.ts'
import { createReceiver, type Receive } from './webhooks/receive.ts'
import { routePath } from './webhooks/route-names.ts'

export interface PaymentsDeps {
  config: PaymentsConfig
  ledger: Ledger
  guard: GatewayGuard
  refusals: Refusals
  queries: PaymentQueries
  deliverer: Pick<Deliverer, 'hasSubscribers' | 'pass'>
  clock: Clock
  log: Log
  fetch: typeof fetch
  /** Lets work go on after the answer to its request. A Worker otherwise ends with its answer. */
  keepAlive: (work: Promise<unknown>) => void
}

type Parts = Pick<PaymentsDeps, 'config' | 'ledger' | 'queries' | 'guard' | 'refusals'>

export interface Payments extends PaymentsFacade, Parts {
  /** With which the routes charge, refund, cancel and check. */
  operations: OperationDeps
  receive: Receive
  sweeper: Sweeper
  /** Starts a sweep and does not wait for it. */
  sweepLater(): void
  /** Starts to dispatch the events that are due, and does not wait for it. */
  dispatchLater(): void
}

export function createPayments(deps: PaymentsDeps): Payments {
  const { config, ledger, guard, refusals, queries, deliverer, clock, log, fetch, keepAlive } = deps
  const { gateways, rules, toleranceMs, eventKeysMs } = config
  const later = (work: Promise<unknown>) =>
    keepAlive(
      work.catch((error: unknown) => {
        log('error', 'payments.background_failed', { error: String(error) })
      }),
    )
  const notify: Notify = (name, payload) => {
    // Most events of most deployments have no subscriber.
    if (deliverer.hasSubscribers(name)) later(deliverer.pass(name, payload))
  }
  const client = createClient({ guard, clock, log, fetch, notify })
  const path = (name: WebhookRoute, gateway: string) => routePath(name, config.routePrefix, gateway)
  const callbackUrl = (gateway: string, origin: string | undefined) => {
    const own = config.publicUrl ?? origin
    return own && `${own}${path('payments.webhook', gateway)}`
  }
  const operations: OperationDeps = {
    ...config.operations,
    gateways,
    ledger,
    client,
    queries,
    references: rules.references,
    mask: reportMask(gateways),
    callbackUrl,
    later,
    clock,
    log,
  }
  const sweeper = createSweeper({ ...operations, eventKeysMs })
  return {
    for: (order) => chargeBuilder(operations, order),
    route(name, gateway) {
      return path(name, gatewayOf(gateways, gateway).key)
    },
    driver(key) {
      return driverFacade(operations, gatewayOf(gateways, key))
    },
    config,
    ledger,
    queries,
    guard,
    refusals,
    operations,
    receive: createReceiver({ ...operations, refusals, notify, toleranceMs }),
    sweeper,
    sweepLater: () => later(sweeper.sweep()),
    dispatchLater: () => later(ledger.dispatchDue({ now: clock.now(), limit: DUE_BATCH })),
  }
}
