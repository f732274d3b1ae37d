// The payments of one deployment: everything of the room, put together over its ports. The host
// application uses `for(order)` and `driver(key)`; the routes use the rest.

import type { Clock } from '../shared/clock.ts'
import type { Log } from '../shared/log.ts'
import { chargeBuilder } from './charges/builder.ts'
import { type Charge, type ChargeContext, createCharge } from './charges/charge.ts'
import type { PaymentsConfig } from './config.ts'
import { driverFace } from './driver.ts'
import { InvalidArgumentException } from './exceptions.ts'
import type { PaymentsFace } from './face.ts'
import { createCaller } from './gateways/caller.ts'
import type { GatewayHealth } from './gateways/desk.ts'
import { gatewayHealth } from './gateways/health.ts'
import type { Ledger } from './ledger/ledger.ts'
import type { PaymentRecords } from './ledger/records.ts'
import { createRefund, type Refund } from './refunds/refund.ts'
import { createSweeper, type Sweeper } from './sweeper.ts'
import { createTeller } from './telling/teller.ts'
import { createTelling } from './telling/telling.ts'
import type { ChargeRequest, PaymentResponse } from './transaction.ts'
import { createReceiver, type Receive } from './webhooks/receive.ts'
import { routePath, type WebhookRoute } from './webhooks/route-names.ts'

export interface PaymentsDeps {
  config: PaymentsConfig
  ledger: Ledger
  records: PaymentRecords
  clock: Clock
  log: Log
  fetch: typeof fetch
  /** Lets work outlive the request that caused it. */
  keepAlive: (work: Promise<unknown>) => void
}

export interface Payments extends PaymentsFace {
  config: PaymentsConfig
  charge(request: ChargeRequest, context?: ChargeContext): Promise<PaymentResponse>
  /** The same, and whether it is a new payment. */
  chargeOrFind: Charge
  refund: Refund
  receive: Receive
  ledger: Ledger
  records: PaymentRecords
  /** In the order of the configuration. */
  gateways(): Promise<GatewayHealth[]>
  sweeper: Sweeper
  /** Sweeps without anybody waiting for it. */
  sweepLater(): void
}

export function createPayments(deps: PaymentsDeps): Payments {
  const { config, ledger, records, clock, log } = deps
  const { gateways, accounts, listeners, endpoint, onMismatch, toleranceMs } = config
  const teller = createTeller({
    listeners,
    ...(endpoint && { endpoint }),
    clock,
    log,
    fetch: deps.fetch,
  })
  const telling = createTelling({ ledger, teller, clock, log, keepAlive: deps.keepAlive })
  const caller = createCaller({
    desk: ledger,
    clock,
    log,
    fetch: deps.fetch,
    onTimeout: (timeout) => telling.pass('GatewayTimeout', timeout),
    onOpened: (opened) => telling.pass('CircuitOpened', opened),
  })
  const path = (name: WebhookRoute, gateway: string) => routePath(name, config.routePrefix, gateway)
  const callbackUrl = (gateway: string, origin: string | undefined) => {
    const own = config.publicUrl ?? origin
    return own && `${own}${path('payments.webhook', gateway)}`
  }
  const calling = { gateways, ledger, caller, telling, clock, log, callbackUrl }
  const chargeOrFind = createCharge(calling)
  const charge: Payments['charge'] = async (request, context) =>
    (await chargeOrFind(request, context)).response
  const refund = createRefund(calling)
  const sweeper = createSweeper({
    gateways,
    ledger,
    records,
    teller,
    caller,
    onMismatch,
    callbackUrl,
    clock,
    log,
  })
  return {
    for: (order) => chargeBuilder(order, charge),
    route(name, gateway) {
      if (!gateways.has(gateway)) throw noGateway(gateway)
      return path(name, gateway)
    },
    driver(key) {
      const gateway = gateways.get(key)
      if (!gateway) throw noGateway(key)
      return driverFace({ ...calling, records, refund }, gateway)
    },
    config,
    charge,
    chargeOrFind,
    refund,
    receive: createReceiver({ ...calling, toleranceMs, onMismatch }),
    ledger,
    records,
    gateways: () => gatewayHealth({ gateways, accounts, desk: ledger }),
    sweeper,
    sweepLater: () => telling.background(sweeper.sweep()),
  }
}

const noGateway = (key: string) => new InvalidArgumentException(`There is no gateway ${key}.`)
