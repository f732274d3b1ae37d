// The settings of the simulator, from environment variables.

export interface Settings {
  port: number
  /** Keeps what is booked. Without one, it is in memory alone. */
  file: string | undefined
  /** An https proxy at which payers of other machines open their pages, and nothing else. */
  sharedUrl: URL | undefined
  redirect: {
    clientId: string
    clientSecret: string
    /** Signs its callbacks. */
    apiKey: string
    /** The URL that the merchant registered. Without one, no webhook is sent. */
    callbackUrl?: string
  }
  fib: { clientId: string; clientSecret: string }
  stripe: {
    secretKey: string
    /** Signs its events. */
    webhookSecret: string
    /** The webhook endpoint that the merchant registered. Without one, no event is sent. */
    callbackUrl?: string
  }
  /** Shown on the hosted page. */
  merchant: string
  /** The waits before retries of a webhook. */
  retriesMs: number[]
  /** How long a refund of FIB takes, and until a refund of Stripe fails. */
  fibRefundMs: number
  /** Until an unpaid payment of the redirect gateway expires. */
  expiryMs: number
}

export type Environment = Readonly<Record<string, string | undefined>>
export const environment = (): Environment => process.env

/** Throws a TypeError that names the invalid variable. */
export function readSettings(env: Environment): Settings {
  const text = (name: string, fallback: string) => env[`SIMULATOR_${name}`] || fallback
  const count = (name: string, fallback: number) => {
    const value = Number(text(name, String(fallback)))
    if (Number.isInteger(value) && value >= 0) return value
    throw new TypeError(`SIMULATOR_${name} must be a whole number.`)
  }
  const shared = text('SHARED_URL', '')
  const sharedUrl = URL.parse(shared) ?? undefined
  if (shared && !sharedUrl) throw new TypeError('SIMULATOR_SHARED_URL must be a URL.')
  const callbackOf = (gateway: string) => {
    const callbackUrl = env[`SIMULATOR_${gateway}_CALLBACK_URL`]
    return callbackUrl ? { callbackUrl } : {}
  }
  return {
    port: count('PORT', 0),
    file: text('FILE', '') || undefined,
    sharedUrl,
    redirect: {
      clientId: text('REDIRECT_CLIENT_ID', 'simulated-merchant'),
      clientSecret: text('REDIRECT_CLIENT_SECRET', 'simulated-client-secret'),
      apiKey: text('REDIRECT_API_KEY', 'simulated-api-key-of-32-bytes-or-more'),
      ...callbackOf('REDIRECT'),
    },
    fib: {
      clientId: text('FIB_CLIENT_ID', 'simulated-merchant'),
      clientSecret: text('FIB_CLIENT_SECRET', 'simulated-client-secret'),
    },
    stripe: {
      secretKey: text('STRIPE_SECRET_KEY', 'sk_test_simulated'),
      webhookSecret: text('STRIPE_WEBHOOK_SECRET', 'whsec_simulated-secret-of-32-bytes-or-more'),
      ...callbackOf('STRIPE'),
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
