// Mistakes of a driver that charges, refunds or cancels.

import {
  GatewayRefusedException,
  GatewayUnavailableException,
} from '../../../../worker/payments/domain/exceptions.ts'
import type { AnyGateway } from '../../../../worker/payments/gateways/gateway.ts'
import { refusal } from '../../../../worker/payments/gateways/reply.ts'
import {
  canCancel,
  cancelBy,
  canRefund,
  charging,
  type Mistake,
  refundBy,
  refunding,
  sending,
  takes,
} from './mistake.ts'

const NO = refusal('no', 'No.')
const isRefused = (error: unknown): boolean => error instanceof GatewayRefusedException
const isPartial = ({ refunds }: AnyGateway): boolean => refunds === 'partial'

export const CHARGING: Record<string, Mistake> = {
  'a charge of a hundred times the amount': {
    fails: 'sends amounts in',
    plant: charging(({ amount }) => ({ amount: amount * 100 })),
  },
  'a charge in whole units alone': {
    fails: 'sends amounts in',
    where: takes('USD'),
    plant: charging(({ amount, currency }) =>
      currency === 'JPY' ? {} : { amount: Math.floor(amount / 100) * 100 },
    ),
  },
  'a charge of yen as if they had cents': {
    fails: 'sends amounts in JPY',
    where: takes('JPY'),
    plant: charging(({ amount, currency }) => (currency === 'JPY' ? { amount: amount * 100 } : {})),
  },
  'a charge in one currency, whatever was asked for': {
    fails: 'sends amounts in',
    plant: charging(() => ({ currency: 'GBP' })),
  },
  'a charge without our id of it': {
    fails: 'sends the external reference',
    plant: charging(({ reference }) => ({ externalReferenceId: reference })),
  },
  'a charge with a new id at every call': {
    fails: 'sends a charge again as the same request',
    where: ({ chargeRepeatableForMs }) => chargeRepeatableForMs > 0,
    plant: (sound) => {
      let calls = 0
      return charging(({ externalReferenceId }) => ({
        externalReferenceId: `${externalReferenceId}-${calls++}`,
      }))(sound, undefined as never)
    },
  },
  'a charge that is tried again as another one': {
    fails: 'repeats a charge only as the same request',
    plant: (sound) => ({
      charge: (asked, call) =>
        sound.charge(asked, call).catch(() => {
          const externalReferenceId = `${asked.externalReferenceId}-2`
          return sound.charge({ ...asked, externalReferenceId }, call)
        }),
    }),
  },
  'a charge that is sent again where that makes two': {
    fails: 'repeats a charge only as the same request',
    where: ({ chargeRepeatableForMs }) => chargeRepeatableForMs === 0,
    plant: sending(() => ({ isIdempotent: true })),
  },
  'our id of a charge as that of the gateway': {
    fails: 'charges, and returns what the gateway made',
    plant: (sound) => ({
      async charge(asked, call) {
        const made = await sound.charge(asked, call)
        return made.ok ? { ...made, gatewayTransactionId: asked.externalReferenceId } : made
      },
    }),
  },
  'the page of the shop as that of the gateway': {
    fails: 'charges, and returns what the gateway made',
    where: (_, { charge }) => charge.returnUrl !== undefined,
    plant: (sound) => ({
      async charge(asked, call) {
        const made = await sound.charge(asked, call)
        const { returnUrl: redirectUrl } = asked
        return made.ok && redirectUrl !== undefined ? { ...made, redirectUrl } : made
      },
    }),
  },
  'a refused charge that is asked for again': {
    fails: 'reports a refusal of the gateway as one',
    plant: (sound) => ({
      async charge(asked, call) {
        const made = await sound.charge(asked, call)
        return made.ok ? made : await sound.charge(asked, call)
      },
    }),
  },
  'an outage as a refusal of a charge': {
    fails: 'reports an unknown outcome of a charge',
    plant: (sound) => ({
      charge: (asked, call) => sound.charge(asked, call).catch(() => ({ ok: false, error: NO })),
    }),
  },
  'a refusal of a charge as an outage': {
    fails: 'reports a refusal of the gateway as one',
    plant: (sound) => ({
      async charge(asked, call) {
        const made = await sound.charge(asked, call)
        if (!made.ok) throw new GatewayUnavailableException(made.error.message)
        return made
      },
    }),
  },
}

export const REFUNDING: Record<string, Mistake> = {
  'a refund that is tried again after an outage': {
    fails: 'repeats a refund only as the same request',
    where: canRefund,
    plant: (sound) => ({
      refund: (asked, call) =>
        refundBy(sound, asked, call).catch(() => {
          return refundBy(sound, { ...asked, refundId: `${asked.refundId}-2` }, call)
        }),
    }),
  },
  'a refund that is sent again without an id': {
    fails: 'repeats a refund only as the same request',
    where: canRefund,
    plant: (sound, fixtures) => {
      const again = sending((request) => {
        const { 'idempotency-key': _, ...headers } = request.headers ?? {}
        return { headers, isIdempotent: true }
      })(sound, fixtures)
      return {
        refund: (asked, call) => refundBy({ ...sound, ...again }, { ...asked, refundId: '' }, call),
      }
    },
  },
  'the id of a payment as that of its refund': {
    fails: 'sends a refund again as the same request, and another one with its own id',
    where: isPartial,
    plant: refunding(({ gatewayTransactionId }) => ({ refundId: gatewayTransactionId })),
  },
  'a refund with a new id at every call': {
    fails: 'sends a refund again as the same request',
    where: isPartial,
    plant: (sound, fixtures) => {
      let calls = 0
      const renamed = refunding(({ refundId }) => ({ refundId: `${refundId}-${calls++}` }))
      return renamed(sound, fixtures)
    },
  },
  'a refund of the whole payment, where a part was asked for': {
    fails: 'sends the amounts of refunds in',
    where: isPartial,
    plant: refunding(({ amount }) => ({ refundAmount: amount })),
  },
  'a refund of yen as if they had cents': {
    fails: 'sends the amounts of refunds in JPY',
    where: (sound) => takes('JPY')(sound) && sound.refunds === 'partial',
    plant: refunding(({ refundAmount, currency }) =>
      currency === 'JPY' ? { refundAmount: refundAmount * 100 } : {},
    ),
  },
  'a refund of the payment with the order’s name': {
    fails: 'sends a refund again as the same request',
    where: canRefund,
    plant: refunding(({ reference }) => ({ gatewayTransactionId: reference })),
  },
  'an outage as a refusal of a refund': {
    fails: 'reports an unknown outcome of a refund',
    where: canRefund,
    plant: (sound) => ({
      refund: (asked, call) => refundBy(sound, asked, call).catch(() => ({ ok: false, error: NO })),
    }),
  },
  'an outage as a refund that was made': {
    fails: 'reports an unknown outcome of a refund',
    where: canRefund,
    plant: (sound) => ({
      refund: (asked, call) =>
        refundBy(sound, asked, call).catch(() => ({ ok: true, isDone: true })),
    }),
  },
  'a refund that is accepted as one that was made': {
    fails: 'tells a refund that is accepted as that',
    where: (_, { refunds }) => refunds?.accepted !== undefined,
    plant: (sound) => ({
      async refund(asked, call) {
        const made = await refundBy(sound, asked, call)
        return made.ok ? { ...made, isDone: true } : made
      },
    }),
  },
  'a refund that is sent twice': {
    fails: 'sends a refund again as the same request',
    where: canRefund,
    plant: (sound) => ({
      async refund(asked, call) {
        await refundBy(sound, asked, call)
        return await refundBy(sound, asked, call)
      },
    }),
  },
  'a refused refund that is asked for again': {
    fails: 'reports a refusal of the gateway as one',
    where: canRefund,
    plant: (sound) => ({
      async refund(asked, call) {
        const made = await refundBy(sound, asked, call)
        return made.ok ? made : await refundBy(sound, asked, call)
      },
    }),
  },
  'the id of a payment as that of the gateway for its refund': {
    fails: 'tells a refund that is',
    where: canRefund,
    plant: (sound) => ({
      async refund(asked, call) {
        const made = await refundBy(sound, asked, call)
        return made.ok ? { ...made, gatewayRefundId: asked.gatewayTransactionId } : made
      },
    }),
  },
  'our id of a refund as that of the gateway': {
    fails: 'tells a refund that is',
    where: canRefund,
    plant: (sound) => ({
      async refund(asked, call) {
        const made = await refundBy(sound, asked, call)
        return made.ok ? { ...made, gatewayRefundId: asked.refundId } : made
      },
    }),
  },
  'a refusal of a refund as one of an earlier request, too': {
    fails: 'does not take a refusal for one of an earlier request',
    where: (sound, { repeatsFirstAnswer }) => canRefund(sound) && !repeatsFirstAnswer,
    plant: (sound) => ({
      async refund(asked, call) {
        const made = await refundBy(sound, asked, call)
        return made.ok ? made : { ...made, coversEarlier: true }
      },
    }),
  },
}

export const CANCELLING: Record<string, Mistake> = {
  'a cancellation that is sent twice': {
    fails: 'cancels by one request',
    where: canCancel,
    plant: (sound) => ({
      async cancel(asked, call) {
        await cancelBy(sound, asked, call)
        await cancelBy(sound, asked, call)
      },
    }),
  },
  'a cancellation of the payment with the order’s name': {
    fails: 'cancels by one request',
    where: canCancel,
    plant: (sound) => ({
      cancel: (asked, call) =>
        cancelBy(sound, { ...asked, gatewayTransactionId: asked.reference }, call),
    }),
  },
  'an outage as a cancellation that was made': {
    fails: 'reports an unknown outcome of a cancellation',
    where: canCancel,
    plant: (sound) => ({
      cancel: (asked, call) =>
        cancelBy(sound, asked, call).catch((error) => {
          if (isRefused(error)) throw error
        }),
    }),
  },
  'an outage as a refusal to cancel': {
    fails: 'reports an unknown outcome of a cancellation',
    where: canCancel,
    plant: (sound) => ({
      cancel: (asked, call) =>
        cancelBy(sound, asked, call).catch(() => {
          throw new GatewayRefusedException(NO)
        }),
    }),
  },
  'a refusal to cancel as a cancellation': {
    fails: 'reports that the gateway refuses to cancel',
    where: canCancel,
    plant: (sound) => ({
      cancel: (asked, call) =>
        cancelBy(sound, asked, call).catch((error) => {
          if (!isRefused(error)) throw error
        }),
    }),
  },
  'a refusal to cancel as an outage': {
    fails: 'reports that the gateway refuses to cancel',
    where: canCancel,
    plant: (sound) => ({
      cancel: (asked, call) =>
        cancelBy(sound, asked, call).catch(() => {
          throw new GatewayUnavailableException('No.')
        }),
    }),
  },
  'a refused cancellation that is asked for again': {
    fails: 'reports that the gateway refuses to cancel, and does not ask again',
    where: canCancel,
    plant: (sound) => ({
      cancel: (asked, call) =>
        cancelBy(sound, asked, call).catch(() => cancelBy(sound, asked, call)),
    }),
  },
}
