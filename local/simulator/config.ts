// Environment → settings of the simulator: the only place of it where the environment is read.

export interface Settings {
  port: number
  redirect: {
    clientId: string
    clientSecret: string
    /** Signs its callbacks. */
    apiKey: string
    /** What the merchant registered there; without one nobody is told. */
    callbackUrl?: string
  }
  fib: { clientId: string; clientSecret: string }
  /** Shown on the hosted page. */
  merchant: string
  /** Waits before a webhook that was not taken is sent again. */
  retriesMs: number[]
  /** How long FIB takes to pay back. */
  fibRefundMs: number
  /** Until an unpaid payment of the redirect gateway expires. */
  expiryMs: number
}

export type Environment = Readonly<Record<string, string | undefined>>
export const environment = (): Environment => process.env

/** Throws a TypeError that names what is malformed. */
export function readSettings(env: Environment): Settings {
  const text = (name: string, otherwise: string) => env[`SIMULATOR_${name}`] || otherwise
  const count = (name: string, otherwise: number) => {
    const given = Number(text(name, String(otherwise)))
    if (Number.isInteger(given) && given >= 0) return given
    throw new TypeError(`SIMULATOR_${name} must be a whole number.`)
  }
  const callbackUrl = env.SIMULATOR_REDIRECT_CALLBACK_URL
  return {
    port: count('PORT', 0),
    redirect: {
      clientId: text('REDIRECT_CLIENT_ID', 'simulated-merchant'),
      clientSecret: text('REDIRECT_CLIENT_SECRET', 'simulated-client-secret'),
      apiKey: text('REDIRECT_API_KEY', 'simulated-api-key-of-32-bytes-or-more'),
      ...(callbackUrl && { callbackUrl }),
    },
    fib: {
      clientId: text('FIB_CLIENT_ID', 'simulated-merchant'),
      clientSecret: text('FIB_CLIENT_SECRET', 'simulated-client-secret'),
    },
    merchant: text('MERCHANT', 'Signalbox Shop'),
    retriesMs: readWaits(text('RETRIES_MS', '1000 2000 4000 8000')),
    fibRefundMs: count('FIB_REFUND_MS', 500),
    expiryMs: count('EXPIRY_MS', 60 * 60 * 1_000),
  }
}

function readWaits(text: string): number[] {
  const waits = text
    .split(/[\s,]+/)
    .filter(Boolean)
    .map(Number)
  if (waits.every((ms) => Number.isInteger(ms) && ms >= 0)) return waits
  throw new TypeError('SIMULATOR_RETRIES_MS must be whole numbers separated by spaces.')
}
