// What the command line knows of each driver: which webhooks its gateway sends, and what is wrong
// with its secrets. The simulator signs the webhooks. The Worker uses neither, since it must not be
// able to sign what it verifies.

import type { Action, GatewayName } from '../../simulator/payments.ts'
import type { Content } from '../../simulator/webhooks.ts'
import type { ConfiguredGateway } from '../../worker/payments/config/gateway-settings.ts'
import { DRIVERS } from '../../worker/payments/gateways/registry.ts'
import { isLoopback } from '../../worker/shared/loopback.ts'
import { error, type Finding, ok, warn } from '../findings.ts'
import { ask } from './ask.ts'

interface DriverTools {
  callbacks: Callbacks
  /** What is wrong with its secrets, though the Worker would take them. All of them are set. */
  checkSecrets?(gateway: ConfiguredGateway): Finding[]
  /** Asks the gateway whether it takes the credentials. For a driver without access tokens. */
  checkCredentials?(gateway: ConfiguredGateway): Promise<Finding[]>
  /** Whether real money moves; undefined: the settings do not say. */
  isLive(settings: ConfiguredGateway['settings']): boolean | undefined
}

export const SIMULATED_STATUSES = ['Paid', 'Failed', 'Expired', 'Cancelled', 'Refunded'] as const
export type SimulatedStatus = (typeof SIMULATED_STATUSES)[number]

export interface Callbacks {
  /** Its name in the simulator, which writes and signs them. */
  gateway: GatewayName
  /** The setting with the signing secret; undefined: these callbacks are not signed. */
  signsWith: string | undefined
  /** The options that are required. */
  needs: readonly ('reference' | 'amount' | 'currency' | 'transaction')[]
  /** Further options that its callbacks have no place for. */
  ignores?: readonly ('--amount' | '--currency' | '--event-id')[]
  /**
   * The statuses that the gateway has, and what happens to a payment until it has that status. The
   * webhook is about the last of it.
   */
  ways: Readonly<Partial<Record<SimulatedStatus, readonly Action[]>>>
  /**
   * A genuine callback that changes nothing: a receiver that verifies it has the same secret. It
   * must be answered before anything is stored. `now` in ms.
   */
  probe?(now: number): Content
}

/** A simulator. */
const isHere = (base = ''): boolean => URL.canParse(base) && isLoopback(new URL(base).hostname)

const redirect: DriverTools = {
  callbacks: {
    gateway: 'redirect',
    signsWith: 'api_key',
    needs: ['reference', 'amount', 'currency'],
    ways: { Paid: ['pay'], Failed: ['fail'], Expired: ['expire'], Refunded: ['pay', 'refund'] },
    // Without the fields of an event: its signature is valid, but it cannot be read.
    probe: (now) => ({ timestamp: new Date(now).toISOString() }),
  },
  // Its default is the test environment.
  isLive: ({ base_url }) =>
    !isHere(base_url) && base_url !== DRIVERS.redirect.settings.base_url.default,
  checkSecrets({ key, settings, variables }) {
    const { client_id = '', client_secret = '', api_key = '' } = settings
    const keys = api_key.split(/\s+/)
    const apiKey = variables.api_key ?? 'api_key'
    const clientSecret = variables.client_secret ?? 'client_secret'
    const bytes = Math.min(...keys.map((it) => new TextEncoder().encode(it).length))
    // Equal keys are refused with the configuration; these differ only in case or punctuation.
    const bare = (text: string) => text.replace(/[^\w]|_/g, '').toLowerCase()
    const isAlike = keys.some((it) => it !== client_secret && bare(it) === bare(client_secret))
    const found: Finding[] = []
    if (isAlike) {
      found.push(error(key, `${apiKey} is ${clientSecret} in another spelling; they must differ.`))
    }
    if (keys.includes(client_id) || client_secret === client_id) {
      const which = keys.includes(client_id) ? apiKey : clientSecret
      found.push(error(key, `${which} is the client_id.`))
    }
    if (bytes < MIN_BYTES) {
      const harm = 'an attacker who sees a callback can find it'
      found.push(error(key, `${apiKey} has ${bytes} bytes: ${harm}.`))
    } else if (bytes < HS256_BYTES) {
      found.push(warn(key, `${apiKey} has ${bytes} bytes; HS256 requires ${HS256_BYTES}.`))
    }
    return found
  },
}

/** RFC 7518 requires a key as long as the digest. */
const HS256_BYTES = 32
/** With one callback, an attacker can find a shorter key by trying all keys. */
const MIN_BYTES = 16

/** Callbacks of First Iraqi Bank are not signed: the receiver reads the payment from the bank. */
const fib: DriverTools = {
  callbacks: {
    gateway: 'fib',
    signsWith: undefined,
    needs: ['transaction'],
    ignores: ['--amount', '--currency', '--event-id'],
    ways: {
      Paid: ['pay'],
      Failed: ['fail'],
      Expired: ['expire'],
      Cancelled: ['cancel'],
      Refunded: ['pay', 'refund'],
    },
  },
  isLive({ base_url }) {
    if (isHere(base_url)) return false
    return base_url === DRIVERS.fib.settings.base_url.default || undefined
  },
}

const MIN_SECRET_CHARS = 24
const TEST_KEY = /^(sk|rk)_test_/
const LIVE_KEY = /^(sk|rk)_live_/

const stripe: DriverTools = {
  callbacks: {
    gateway: 'stripe',
    signsWith: 'webhook_secret',
    needs: ['reference', 'amount', 'currency'],
    ways: {
      Paid: ['pay'],
      // Only a slow payment fails for good: after a declined card, the payer can try again.
      Failed: ['transfer', 'fail'],
      Expired: ['expire'],
      Refunded: ['pay', 'refund'],
    },
    // Stripe has no such event type: it is verified, and then ignored.
    probe: (now) => ({
      id: `evt_${now}`,
      object: 'event',
      type: 'signalbox.doctor',
      created: Math.floor(now / 1_000),
      data: { object: {} },
    }),
  },
  // One address serves both; the key says which.
  isLive: ({ secret_key = '', base_url }) =>
    !isHere(base_url) && !TEST_KEY.test(secret_key) && (LIVE_KEY.test(secret_key) || undefined),
  checkSecrets({ key, settings, variables }) {
    const { secret_key = '', webhook_secret = '' } = settings
    const secretKey = variables.secret_key ?? 'secret_key'
    const webhookSecret = variables.webhook_secret ?? 'webhook_secret'
    const secrets = webhook_secret.split(/\s+/)
    const isApiKey = (text: string) => /^(sk|rk)_/.test(text)
    const isSigning = (text: string) => text.startsWith('whsec_')
    if (isSigning(secret_key) && secrets.some(isApiKey)) {
      return [error(key, `${secretKey} and ${webhookSecret} are swapped.`)]
    }
    const found: Finding[] = []
    if (!isApiKey(secret_key)) found.push(error(key, `${secretKey} must begin with sk_ or rk_.`))
    if (!secrets.every(isSigning)) {
      found.push(error(key, `Each secret of ${webhookSecret} must begin with whsec_.`))
    }
    if (secrets.some((secret) => isSigning(secret) && secret.length < MIN_SECRET_CHARS)) {
      found.push(error(key, `${webhookSecret} is too short for a secret of Stripe.`))
    }
    if (TEST_KEY.test(secret_key) && !isHere(settings.base_url)) {
      found.push(warn(key, `${secretKey} is a test key: no real money moves.`))
    }
    if (LIVE_KEY.test(secret_key) && isHere(settings.base_url)) {
      const where = variables.base_url ?? 'base_url'
      found.push(warn(key, `${secretKey} is a live key, but ${where} is this machine.`))
    }
    return found
  },
  async checkCredentials({ key, settings, variables }) {
    const headers = { authorization: `Bearer ${settings.secret_key}` }
    const base = (settings.base_url ?? '').replace(/\/+$/, '')
    const read = (path: string) => ask(`${base}/v1/${path}?limit=1`, { headers })
    const answer = await read('checkout/sessions')
    const name = variables.secret_key ?? 'secret_key'
    if (!answer.ok) return [error(key, `Stripe does not answer to ${name}: ${answer.why}.`)]
    switch (answer.status) {
      case 200:
      case 403: {
        const answers = [answer, await read('payment_intents'), await read('refunds')]
        const forbidden = ['checkout sessions', 'payment intents', 'refunds'].filter(
          (_, at) => answers[at]?.ok && answers[at].status === 403,
        )
        if (forbidden.length === 0) return [ok(key, `Stripe accepts ${name}.`)]
        const what = forbidden.join(', ')
        return [error(key, `${name} is restricted: it cannot read ${what} (403).`)]
      }
      case 401:
        return [error(key, `Stripe refuses ${name} (401).`)]
      default:
        return [warn(key, `This may not be Stripe: it answers ${answer.status}.`)]
    }
  },
}

/** Every included driver has a record here. A driver of your own has none. */
export const DRIVER_TOOLS: Readonly<Record<string, DriverTools>> = {
  redirect,
  fib,
  stripe,
} satisfies Record<keyof typeof DRIVERS, DriverTools>
