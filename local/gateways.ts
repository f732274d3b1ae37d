// The payment gateways of a local system: simulated ones, with secrets of this data folder, unless
// the environment names real ones. Pure but for the digest.

import { hkdfSync } from 'node:crypto'

/** For local.json: of each gateway that is configured, what its webhooks are signed with. */
export interface LocalGateways {
  redirect?: { api_key: string }
  fib?: { client_id: string }
  stripe?: { webhook_secret: string }
}

export interface GatewaySecrets {
  redirect: { clientSecret: string; apiKey: string }
  fib: { clientSecret: string }
  stripe: { secretKey: string; webhookSecret: string }
}

/** Of every simulated gateway: a name, and no secret. */
export const CLIENT_ID = 'signalbox-local'

/**
 * Derived from the data folder's secret, which outlives a restart, so they do too. None of them
 * tells anything of it or of another.
 */
export function gatewaySecrets(secret: string): GatewaySecrets {
  const derive = (name: string) =>
    Buffer.from(hkdfSync('sha256', secret, '', `signalbox local ${name}`, 32)).toString('base64url')
  return {
    redirect: {
      clientSecret: derive('redirect client_secret'),
      apiKey: derive('redirect api_key'),
    },
    fib: { clientSecret: derive('fib client_secret') },
    stripe: {
      secretKey: `sk_test_${derive('stripe secret_key')}`,
      webhookSecret: `whsec_${derive('stripe webhook_secret')}`,
    },
  }
}

type Variables = Readonly<Record<string, string>>

/**
 * Variables of the simulated gateways. As soon as one of a gateway's is in `given`, that gateway is
 * left out: half a real one and half a simulated one would be neither.
 */
export function simulatedGateways(
  given: Variables,
  { redirect, fib, stripe }: GatewaySecrets,
  simulator: string,
): Record<string, string> {
  const simulated = {
    REDIRECT_GATEWAY_: {
      BASE_URL: simulator,
      CLIENT_ID,
      CLIENT_SECRET: redirect.clientSecret,
      API_KEY: redirect.apiKey,
    },
    FIB_: { BASE_URL: simulator, CLIENT_ID, CLIENT_SECRET: fib.clientSecret },
    // It has no Stripe: calls are answered with 404, and webhooks that a test signs verify.
    STRIPE_: {
      BASE_URL: simulator,
      SIMULATED: 'no',
      SECRET_KEY: stripe.secretKey,
      WEBHOOK_SECRET: stripe.webhookSecret,
    },
  }
  const names = Object.keys(given)
  const entries = Object.entries(simulated)
    .filter(([prefix]) => !names.some((name) => name.startsWith(prefix)))
    .flatMap(([prefix, settings]) =>
      Object.entries(settings).map(([name, value]): [string, string] => [prefix + name, value]),
    )
  return Object.fromEntries(entries)
}

/** Variables of the simulator. `callback`: of the redirect gateway; others are told each time. */
export function simulatorVariables(
  { redirect, fib }: GatewaySecrets,
  { port, callback }: { port: number; callback: string },
): Record<string, string> {
  return {
    SIMULATOR_PORT: String(port),
    SIMULATOR_REDIRECT_CALLBACK_URL: callback,
    SIMULATOR_REDIRECT_CLIENT_ID: CLIENT_ID,
    SIMULATOR_REDIRECT_CLIENT_SECRET: redirect.clientSecret,
    SIMULATOR_REDIRECT_API_KEY: redirect.apiKey,
    SIMULATOR_FIB_CLIENT_ID: CLIENT_ID,
    SIMULATOR_FIB_CLIENT_SECRET: fib.clientSecret,
  }
}

/** `variables`: all that the Worker gets, whoever gave it. */
export function describeGateways(variables: Variables): LocalGateways {
  const { REDIRECT_GATEWAY_API_KEY: api_key, FIB_CLIENT_ID: client_id } = variables
  // While it is changed there are several; the first one signs as well as any.
  const [webhook_secret] = (variables.STRIPE_WEBHOOK_SECRET ?? '').split(' ').filter(Boolean)
  return {
    ...(api_key !== undefined && { redirect: { api_key } }),
    ...(client_id !== undefined && { fib: { client_id } }),
    ...(webhook_secret !== undefined && { stripe: { webhook_secret } }),
  }
}
