// Payments over the ledger on SQLite as hosts wire it, with what is counted of them.

import { FakeClock } from '../../../libraries/testing/fake-clock.ts'
import { InvalidWebhookSignatureException } from '../../../worker/payments/domain/exceptions.ts'
import type { VerifiedWebhook } from '../../../worker/payments/domain/types.ts'
import { createGuard } from '../../../worker/payments/gateways/guard.ts'
import { openLedger } from '../../../worker/payments/ledger/ledger.ts'
import { DatabaseUnreachable } from '../../../worker/payments/ledger/libsql/database-libsql.ts'
import { createRefusals } from '../../../worker/payments/ledger/refused-webhooks.ts'
import { countingLog } from '../../../worker/payments/metrics.ts'
import { createDeliverer, subscribersOf } from '../../../worker/payments/outbox/deliver.ts'
import { createPayments } from '../../../worker/payments/payments.ts'
import { libsqlQueries } from '../../../worker/payments/queries/queries-libsql.ts'
import { Metrics } from '../../../worker/shared/metrics.ts'
import { metricsText } from '../../../worker/shared/metrics-node.ts'
import { paymentsConfig, webhookRequest } from '../../support/payments.ts'
import { asked } from '../../support/payments-setup.ts'
import { sqliteDatabase } from '../../support/sqlite-database.ts'

export const ORDER = { gateway: 'bank', reference: 'order-1', amount: 500, currency: 'IQD' }

export function meteredPayments(all = new Metrics()) {
  const clock = new FakeClock()
  let calls = 0
  let isAway = false
  const gone = new DatabaseUnreachable('gone')
  const own = sqliteDatabase()
  const database: typeof own = {
    ...own,
    read: (...given) => {
      calls++
      return isAway ? Promise.reject(gone) : own.read(...given)
    },
    write: (...given) => {
      calls++
      return isAway ? Promise.reject(gone) : own.write(...given)
    },
  }
  let isTaken = false
  const config = paymentsConfig({
    gateways: new Map([
      [
        'bank',
        {
          key: 'bank',
          privateFields: [],
          echoedFields: [],
          currencies: 'any' as const,
          chargeRepeatableForMs: 0,
          async charge(_, call) {
            await call.send({
              endpoint: 'pay',
              method: 'GET',
              url: 'http://bank.example/',
              isIdempotent: false,
            })
            return { ok: true, gatewayTransactionId: 'g-1', redirectUrl: 'https://bank.example/1' }
          },
          async handleWebhook({ body }) {
            if (body === 'forged') throw new InvalidWebhookSignatureException('forged')
            return JSON.parse(body) as VerifiedWebhook
          },
        },
      ],
    ]),
    listeners: {
      PaymentSucceeded: () => (isTaken ? undefined : Promise.reject(new Error('busy'))),
    },
  })
  const fetched = { status: 200 }
  const fetch = () => {
    calls++
    return Promise.resolve(Response.json({}, fetched))
  }
  const host = { clock, log: countingLog(all, ['bank'], () => undefined), fetch }
  const deliverer = createDeliverer({ ...config, ...host })
  const { gateways, listeners, endpoint, rules } = config
  const subscribers = subscribersOf(listeners, endpoint)
  const made = createPayments({
    config,
    ledger: openLedger({ database, rules, subscribers, deliver: deliverer.deliver, ...host }),
    guard: createGuard({ gateways, store: new Map(), ...host }),
    refusals: createRefusals(clock),
    deliverer,
    queries: libsqlQueries(database),
    keepAlive: () => undefined,
    ...host,
  })
  const payments = { ...made, ...asked(made) }
  const webhook = async (own: Partial<VerifiedWebhook> | 'forged') => {
    const event = { ...ORDER, gatewayTransactionId: 'g-1', eventId: 'e-1', status: 'Paid' }
    const payload = { ...event, occurredAt: clock.now(), raw: {}, ...(own === 'forged' ? {} : own) }
    const body = own === 'forged' ? own : JSON.stringify(payload)
    return (await payments.receive('bank', webhookRequest(body, 0), 'correlation')).body
  }
  const charge = () => payments.charge({ ...ORDER, description: 'A lamp' })
  return {
    metrics: all,
    clock,
    payments,
    webhook,
    charge,
    fetched,
    take: () => {
      isTaken = true
    },
    /** The database does not answer. */
    away: (is: boolean) => {
      isAway = is
    },
    calls: () => calls,
    /** The values that are not 0. */
    values: () =>
      Object.fromEntries(
        metricsText(all)
          .split('\n')
          .filter((line) => line !== '' && !line.startsWith('#') && !line.includes('_bucket'))
          .map((line) => [line.slice(10, line.lastIndexOf(' ')), Number(line.split(' ').at(-1))])
          .filter(([, value]) => value !== 0),
      ) as Record<string, number>,
  }
}
