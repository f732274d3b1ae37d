// Charges whose payment page or answer was lost, and helpers for tests that replace them.

import { GatewayUnavailableException } from '../../../../worker/payments/domain/exceptions.ts'
import { request } from '../../../support/payments.ts'
import {
  type PaymentsSetup,
  reported,
  setUpPayments,
  unavailable,
} from '../../../support/payments-setup.ts'

export const order = request()
/** The request that replaces the charge of this order. */
export const again = { ...order, replace: true }
export const keyed = { idempotencyKey: 'key-1' }
export const DAY_MS = 86_400_000

export const noPage = (): never => {
  const options = { gatewayTransactionId: 'gateway-1' }
  throw new GatewayUnavailableException('The charge exists, but has no page.', options)
}

/** Charges, and returns the response or the error. */
export const tryCharge = (setup: PaymentsSetup, asked: object, context = {}) =>
  setup.payments
    .chargeOrFind(asked as typeof order, context)
    .then(({ response, isNew }) => ({ isNew, ...response }))
    .catch((error: { code: string; transactionId?: string }) => error)

/** The fields of all attempts that a replacement changes, the oldest first. */
export async function attemptsOf(setup: PaymentsSetup) {
  const rows = await setup.payments.queries.transactions({}, { limit: 99 })
  return rows
    .sort((a, b) => a.attempt - b.attempt)
    .map(({ id, attempt, status, error }) => ({
      id,
      attempt,
      status,
      ...(error && { error: error.code }),
    }))
}

export const alertsOf = async ({ payments }: PaymentsSetup) =>
  (await payments.queries.alerts({}, { limit: 99 })).map(({ kind, transactionId }) => ({
    kind,
    transactionId,
  }))

/** A charge whose gateway returned its id, but no page. */
export async function pageLost(
  gateway: object = {},
  context: object = keyed,
  onMismatch: 'log' | 'reject' = 'log',
) {
  const charged = await lost(setUpPayments({ gateway, onMismatch }), noPage, context)
  charged.script.status = () => reported('Pending')
  return charged
}

/** A charge whose answer was lost, at a bank that must not be called twice. */
export const answerLost = () =>
  lost(setUpPayments({ gateway: { chargeRepeatableForMs: 0 } }), unavailable)

async function lost(setup: PaymentsSetup, fail: () => never, context: object = {}) {
  const { script, clock } = setup
  const { charge } = script
  script.charge = fail
  const { transactionId = '' } = (await tryCharge(setup, order, context)) as {
    transactionId: string
  }
  script.charge = charge
  // Ids are ordered by time.
  await clock.advance(1)
  await setup.quiet()
  setup.events.splice(0)
  return { ...setup, setup, first: transactionId }
}
