// Mistakes of a driver that shows what nobody may read.

import type { GatewayFixtures } from '../../../../libraries/testing/gateway-fixtures.ts'
import { GatewayUnavailableException } from '../../../../worker/payments/domain/exceptions.ts'
import type { AnyGateway } from '../../../../worker/payments/gateways/gateway.ts'
import { isSecretName } from '../../../../worker/shared/secrets.ts'
import { calling, checkBy, type Mistake, sending } from './mistake.ts'

const secretOf = ({ settings }: GatewayFixtures): string =>
  Object.entries(settings)
    .find(([name]) => isSecretName(name))?.[1]
    .split(' ')[0] ?? ''

type Method = 'charge' | 'handleWebhook' | 'refund' | 'checkStatus' | 'cancel'

/** Only this method of the mistaken ones. */
const only =
  (method: Method, plant: Mistake['plant']): Mistake['plant'] =>
  (sound, fixtures) => ({ [method]: plant(sound, fixtures)[method] })

const warning: Mistake['plant'] = (sound, { settings }) =>
  calling(sound, (call) => {
    call.warn('payments.own.called', { settings })
    return call
  })

/** Every failure tells with which secret. */
const failing: Mistake['plant'] = (sound, fixtures) =>
  calling(sound, (call) => ({
    ...call,
    send: (request) =>
      call.send(request).catch(({ message }: Error) => {
        throw new GatewayUnavailableException(`${message} with ${secretOf(fixtures)}`)
      }),
  }))

const METHODS: Record<Method, string> = {
  charge: 'makes a charge',
  refund: 'makes a refund',
  cancel: 'makes a cancellation',
  checkStatus: 'asks for a status',
  handleWebhook: 'a callback',
}

const everywhere = (
  what: string,
  plant: Mistake['plant'],
  where: (sound: AnyGateway, method: Method, fixtures: GatewayFixtures) => boolean = () => true,
): [string, Mistake][] =>
  (Object.entries(METHODS) as [Method, string][]).map(([method, does]) => [
    `${what} of ${method}`,
    {
      fails: does,
      where: (sound, fixtures) => sound[method] !== undefined && where(sound, method, fixtures),
      plant: only(method, plant),
    },
  ])

export const REVEALING: Record<string, Mistake> = {
  ...Object.fromEntries([
    ...everywhere('secrets in a warning', warning),
    // A signed callback about a payment asks nothing.
    ...everywhere(
      'a secret in an error',
      failing,
      (_, method, { signs }) => method !== 'handleWebhook' || signs === 'nothing',
    ),
  ]),
  'a secret in an address': {
    fails: 'reveals no secret',
    plant: sending(({ url }, fixtures) => {
      const to = new URL(url)
      to.searchParams.set('key', secretOf(fixtures))
      return { url: String(to) }
    }),
  },
  'a secret in an address that the gateway gets': {
    fails: 'reveals no secret where it makes a charge',
    plant: (sound, fixtures) => ({
      charge: (asked, call) =>
        sound.charge({ ...asked, returnUrl: `https://shop.test/?key=${secretOf(fixtures)}` }, call),
    }),
  },
  'the whole answer in an error': {
    fails: 'reveals no secret where it asks for a status',
    plant: (sound) => ({
      async checkStatus(asked, call) {
        let body: unknown
        const send: typeof call.send = async (request) => {
          const reply = await call.send(request)
          body = reply.body
          return reply
        }
        return await checkBy(sound, asked, { ...call, send }).catch(({ message }: Error) => {
          throw new GatewayUnavailableException(`${message}: ${JSON.stringify(body)}`)
        })
      },
    }),
  },
  'a payer in a warning': {
    fails: 'reveals no secret where it reads a callback',
    plant: (sound) => ({
      async handleWebhook(request, call) {
        const read = await sound.handleWebhook(request, call)
        if ('raw' in read) call.warn('payments.own.read', { raw: read.raw })
        return read
      },
    }),
  },
  'values of the payer that are not private': {
    fails: 'names the fields with values of the payer',
    // A phone number is masked everywhere.
    where: (_, { driver }) => driver.envPrefix !== 'REDIRECT_GATEWAY_',
    plant: () => ({ privateFields: [] }),
  },
}
