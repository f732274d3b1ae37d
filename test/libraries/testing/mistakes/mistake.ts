// A mistake in a sound driver, whichever that is: one of its methods does something else.

import type { GatewayFixtures } from '../../../../libraries/testing/gateway-fixtures.ts'
import type { VerifiedWebhook } from '../../../../worker/payments/domain/types.ts'
import type {
  AnyGateway,
  CountedReply,
  GatewayCall,
  GatewayCharge,
  GatewayRefund,
  GatewayRequest,
  StatusAnswer,
  StoredPayment,
} from '../../../../worker/payments/gateways/gateway.ts'

export interface Mistake {
  /** Words of the names of cases, of which one fails. */
  fails: string
  /** The driver can make it. Missing: each can. */
  where?: (sound: AnyGateway, fixtures: GatewayFixtures) => boolean
  /** The methods that are mistaken. */
  plant(sound: AnyGateway, fixtures: GatewayFixtures): Partial<AnyGateway>
}

type Plant = Mistake['plant']
type Known = Extract<StatusAnswer, { known: true }>

/** It asks for another charge than it was asked for. */
export const charging =
  (change: (asked: GatewayCharge) => Partial<GatewayCharge>): Plant =>
  (sound) => ({ charge: (asked, call) => sound.charge({ ...asked, ...change(asked) }, call) })

/** It asks for another refund. */
export const refunding =
  (change: (asked: GatewayRefund) => Partial<GatewayRefund>): Plant =>
  (sound) => ({
    refund: async (asked, call) => await refundBy(sound, { ...asked, ...change(asked) }, call),
  })

/** What it returns of a status. */
export const checking =
  (change: (read: Known, asked: StoredPayment) => object): Plant =>
  (sound) => ({
    async checkStatus(asked, call) {
      const answer = await checkBy(sound, asked, call)
      return answer.known ? { ...answer, ...change(answer, asked) } : answer
    },
  })

/** What it returns of a callback. */
export const receiving =
  (change: (read: VerifiedWebhook) => object): Plant =>
  (sound) => ({
    async handleWebhook(request, call) {
      const read = await sound.handleWebhook(request, call)
      return 'eventId' in read ? { ...read, ...change(read) } : read
    },
  })

/** Both. */
export const reading =
  (change: (read: Known | VerifiedWebhook) => object): Plant =>
  (sound, fixtures) => ({
    ...receiving(change)(sound, fixtures),
    ...(sound.checkStatus && checking(change)(sound, fixtures)),
  })

/** Its requests are others, whatever the method. */
export const sending =
  (
    change: (request: GatewayRequest, fixtures: GatewayFixtures) => Partial<GatewayRequest>,
  ): Plant =>
  (sound, fixtures) =>
    calling(sound, (call) => ({
      ...call,
      send: (request) => call.send({ ...request, ...change(request, fixtures) }),
    }))

/** It takes the gateway's replies for others. */
export const hearing =
  (change: (reply: CountedReply) => Partial<CountedReply>): Plant =>
  (sound) =>
    calling(sound, (call) => ({
      ...call,
      send: async (request) => {
        const reply = await call.send(request)
        return { ...reply, ...change(reply) }
      },
    }))

/** All its methods, with another call. */
export const calling = (
  sound: AnyGateway,
  change: (call: GatewayCall) => GatewayCall,
): Partial<AnyGateway> => ({
  charge: (asked, call) => sound.charge(asked, change(call)),
  handleWebhook: (request, call) => sound.handleWebhook(request, change(call)),
  ...(sound.refund && { refund: (asked, call) => refundBy(sound, asked, change(call)) }),
  ...(sound.checkStatus && { checkStatus: (asked, call) => checkBy(sound, asked, change(call)) }),
  ...(sound.cancel && { cancel: (asked, call) => cancelBy(sound, asked, change(call)) }),
})

export async function refundBy(sound: AnyGateway, asked: GatewayRefund, call: GatewayCall) {
  if (!sound.refund) throw new Error(`${sound.key} makes no refunds`)
  return await sound.refund(asked, call)
}

export async function checkBy(sound: AnyGateway, asked: StoredPayment, call: GatewayCall) {
  if (!sound.checkStatus) throw new Error(`${sound.key} reads no status`)
  return await sound.checkStatus(asked, call)
}

export async function cancelBy(sound: AnyGateway, asked: StoredPayment, call: GatewayCall) {
  if (!sound.cancel) throw new Error(`${sound.key} cancels nothing`)
  await sound.cancel(asked, call)
}

export const canRefund = (sound: AnyGateway): boolean => sound.refund !== undefined
export const canCancel = (sound: AnyGateway): boolean => sound.cancel !== undefined
export const takes =
  (currency: string) =>
  ({ currencies }: AnyGateway): boolean =>
    currencies === 'any' || currencies.includes(currency)
