// Mistakes of a driver that reads a status or a callback.

import type { GatewayFixtures } from '../../../../libraries/testing/gateway-fixtures.ts'
import {
  GatewayUnavailableException,
  InvalidWebhookSignatureException,
} from '../../../../worker/payments/domain/exceptions.ts'
import type { AnyGateway } from '../../../../worker/payments/gateways/gateway.ts'
import {
  calling,
  checkBy,
  checking,
  hearing,
  type Mistake,
  reading,
  receiving,
  sending,
} from './mistake.ts'

const inYen = (factor: number) => (read: { amount: number; currency: string }) =>
  read.currency === 'JPY' ? { amount: read.amount * factor } : {}

/** What floats make of it: 19.99 times 100 is 1998.99…, and its floor 1998. */
const floored = ({ amount, currency }: { amount: number; currency: string }) => {
  const factor = { EUR: 100, KWD: 1_000 }[currency]
  return factor === undefined ? {} : { amount: Math.floor((amount / factor) * factor) }
}

const unreadableIn = (error: unknown): boolean =>
  error instanceof GatewayUnavailableException && error.unreadable !== undefined
const isSigned = (_: AnyGateway, { signs }: GatewayFixtures): boolean => signs !== 'nothing'
const isUnsigned = (_: AnyGateway, { signs }: GatewayFixtures): boolean => signs === 'nothing'
const named =
  (...keys: string[]) =>
  (_: AnyGateway, { driver }: GatewayFixtures): boolean =>
    keys.includes(driver.envPrefix)

export const READING_AMOUNTS: Record<string, Mistake> = {
  'yen a hundredfold, when it asks': {
    fails: 'reads amounts in JPY, of 0 decimals, when it asks',
    plant: checking(inYen(100)),
  },
  'yen a hundredfold, in a callback': {
    fails: 'reads amounts in JPY, of 0 decimals, in a callback',
    plant: receiving(inYen(100)),
  },
  'a thousandth of a dinar as a hundredth': {
    fails: 'reads amounts in KWD',
    plant: reading(({ amount, currency }) =>
      currency === 'KWD' ? { amount: Math.round(amount / 10) } : {},
    ),
  },
  'a dinar of Iraq with its thousandths': {
    fails: 'reads amounts in IQD',
    plant: reading(({ amount, currency }) =>
      currency === 'IQD' ? { amount: amount * 1_000 } : {},
    ),
  },
  'what floats make of 19.99, when it asks': {
    fails: 'reads amounts in EUR, of 2 decimals, when it asks',
    plant: checking(floored),
  },
  'what floats make of 19.99, in a callback': {
    fails: 'reads amounts in EUR, of 2 decimals, in a callback',
    plant: receiving(floored),
  },
  'what floats make of 1.005': { fails: 'reads amounts in KWD', plant: reading(floored) },
  'an amount in 32 bits': {
    fails: 'reads amounts in',
    plant: reading(({ amount }) => ({ amount: Math.trunc(amount) | 0 })),
  },
  'the amount of a status copied from the charge': {
    fails: 'reads amounts in',
    plant: checking((_, { amount }) => ({ amount })),
  },
  'the currency of a status copied from the charge': {
    fails: 'reads amounts in',
    plant: checking((_, { currency }) => ({ currency })),
  },
  'a currency as the gateway spells it': {
    fails: 'reads amounts in',
    plant: reading(({ currency }) => ({ currency: currency.toLowerCase() })),
  },
  'what was paid as what was refunded': {
    fails: 'reads amounts in',
    where: (_, { states }) => states.PartiallyRefunded !== undefined,
    plant: reading(({ status, amount }) =>
      status === 'PartiallyRefunded' ? { paidAmount: amount } : {},
    ),
  },
  'refunds a hundredfold in their list': {
    fails: 'reads amounts in',
    where: named('STRIPE_', 'MOLLIE_', 'FIB_'),
    plant: reading(({ refunds: set }) => {
      const refunds = set?.refunds.map((each) => ({ ...each, amount: each.amount * 100 }))
      return set ? { refunds: { ...set, refunds } } : {}
    }),
  },
  'the amount of the charge for one that cannot be read': {
    fails: 'when it asks',
    plant: (sound) => ({
      checkStatus: (asked, call) =>
        checkBy(sound, asked, call).catch((error) => {
          if (!unreadableIn(error)) throw error
          const { amount, currency } = asked
          return { known: true, status: 'Paid', amount, currency }
        }),
    }),
  },
}

const unreadable =
  (instead: (sound: AnyGateway) => object): Mistake['plant'] =>
  (sound) => ({
    async handleWebhook(request, call) {
      const outcome = await sound.handleWebhook(request, call).catch((error: unknown) => {
        if (!unreadableIn(error)) throw error
        return { unreadable: 'amount' }
      })
      return 'unreadable' in outcome ? (instead(sound) as never) : outcome
    },
  })

export const READING_WHAT_IS_BROKEN: Record<string, Mistake> = {
  'a genuine callback with a broken amount as one of nothing': {
    fails: 'in a genuine callback',
    plant: unreadable(({ key }) => ({
      gateway: key,
      status: 'Paid',
      amount: 0,
      currency: 'EUR',
      eventId: 'event-1',
    })),
  },
  'a genuine callback with a broken amount as none': {
    fails: 'in a genuine callback',
    plant: unreadable(() => ({ ignored: 'no amount' })),
  },
  'a genuine callback with a broken amount, without the ids of its payment': {
    fails: 'in a genuine callback',
    plant: unreadable(() => ({ unreadable: 'amount' })),
  },
  'a genuine callback with a broken amount as forged': {
    fails: 'in a genuine callback',
    plant: unreadable(() => {
      throw new InvalidWebhookSignatureException('It has no amount')
    }),
  },
  'an outage as a forged callback': {
    fails: 'asks for a genuine callback again',
    where: isUnsigned,
    plant: (sound) => ({
      handleWebhook: (request, call) =>
        sound.handleWebhook(request, call).catch(() => {
          throw new InvalidWebhookSignatureException('The gateway does not confirm it')
        }),
    }),
  },
  'our credentials, which are refused, as a forged callback': {
    fails: 'takes no 4xx for a proof that a callback is forged',
    where: named('FIB_'),
    plant: hearing(({ status }) => (status === 403 ? { status: 404 } : {})),
  },
  'an outage as a callback about nothing': {
    fails: 'asks for a genuine callback again',
    where: named('STRIPE_', 'MOLLIE_', 'FIB_'),
    plant: (sound) => ({
      handleWebhook: (request, call) =>
        sound.handleWebhook(request, call).catch((error) => {
          if (error instanceof GatewayUnavailableException) return { ignored: 'no answer' }
          throw error
        }),
    }),
  },
}

export const READING_THE_REST: Record<string, Mistake> = {
  'a payment that the gateway does not know as one that failed': {
    fails: 'reads no status in a 4xx, a JSON 404 included',
    plant: (sound) => ({
      async checkStatus(asked, call) {
        const answer = await checkBy(sound, asked, call)
        const { amount, currency } = asked
        return answer.known ? answer : { known: true, status: 'Failed', amount, currency }
      },
    }),
  },
  'refused credentials as a payment that the gateway does not know': {
    fails: 'reads no status in a 4xx',
    plant: hearing(({ status }) => (status === 403 ? { status: 404 } : {})),
  },
  'an outage as a payment that the gateway does not know': {
    fails: 'reports an unknown status',
    plant: (sound) => ({
      checkStatus: (asked, call) => checkBy(sound, asked, call).catch(() => ({ known: false })),
    }),
  },
  'an outage as a payment that is still open': {
    fails: 'reports an unknown status',
    plant: (sound) => ({
      checkStatus: (asked, call) =>
        checkBy(sound, asked, call).catch(() => {
          const { amount, currency } = asked
          return { known: true, status: 'Pending', amount, currency }
        }),
    }),
  },
  'the id that it asked for as that of the answer': {
    fails: 'returns',
    // The other ones refuse an answer with another id, or without one, before that.
    where: named('REDIRECT_GATEWAY_', 'FIB_', 'STRIPE_', 'ACME_'),
    plant: checking((_, { gatewayTransactionId }) => ({ gatewayTransactionId })),
  },
  'the external reference that it asked for as that of the answer': {
    fails: 'returns',
    plant: checking((_, { externalReferenceId }) => ({ externalReferenceId })),
  },
  'what it asked for as the raw answer': {
    fails: 'reads the status, the amount and the currency',
    plant: checking((_, asked) => ({ raw: asked })),
  },
  'a word that nobody knows as paid': {
    fails: 'moves nothing for a status that it does not know',
    plant: checking(({ isBeingPaid, status }) =>
      isBeingPaid && status === 'Pending' ? { status: 'Paid' } : {},
    ),
  },
  'a word that nobody knows as one of a page that may be replaced': {
    fails: 'moves nothing for a status that it does not know',
    plant: checking(() => ({ isBeingPaid: false })),
  },
  'a word that nobody knows, which nobody hears of': {
    fails: 'moves nothing for a status that it does not know',
    plant: (sound) => calling(sound, (call) => ({ ...call, warn: () => undefined })),
  },
  'one id for all events': {
    fails: 'gives one event the same id',
    plant: receiving(() => ({ eventId: 'event' })),
  },
  'one id for all events of a payment': {
    fails: 'gives one event the same id',
    plant: receiving(({ gatewayTransactionId }) => ({ eventId: gatewayTransactionId })),
  },
  'another id for each delivery of an event': {
    fails: 'gives one event the same id',
    plant: (sound) => ({
      async handleWebhook(request, call) {
        const read = await sound.handleWebhook(request, call)
        return 'eventId' in read
          ? { ...read, eventId: `${read.eventId}:${request.receivedAt}` }
          : read
      },
    }),
  },
  'seconds for milliseconds': {
    fails: 'reads a callback',
    plant: receiving(({ occurredAt }) => ({ occurredAt: occurredAt / 1_000 })),
  },
  'the present as the time of a signed event': {
    fails: 'reads a callback',
    where: isSigned,
    plant: (sound) => ({
      async handleWebhook(request, call) {
        const read = await sound.handleWebhook(request, call)
        return 'eventId' in read ? { ...read, occurredAt: request.receivedAt } : read
      },
    }),
  },
  'a raw value with less than came': {
    fails: 'with the gateway’s body unchanged',
    plant: receiving(() => ({ raw: {} })),
  },
  'ids in addresses as they came': {
    fails: 'escapes what it puts into an address',
    plant: sending(({ url }) => ({ url: decodeURIComponent(url) })),
  },
}
