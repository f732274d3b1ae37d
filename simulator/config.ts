// The settings of the simulator, from environment variables.

export interface Settings {
  port: number
  /** Keeps what is booked. Without one, it is in memory alone. */
  file: string | undefined
  /** An https proxy at which payers of other machines open their pages, and nothing else. */
  sharedUrl: URL | undefined
  /** By gateway. */
  merchants: Readonly<Record<string, Merchant>>
  /** Shown on the hosted page. */
  merchant: string
  /** The waits before retries of a webhook. */
  retriesMs: number[]
  /** Until a refund that was accepted is made, or fails. */
  refundMs: number
  /** Until an unpaid payment of the redirect gateway expires. */
  expiryMs: number
}

/** What a gateway knows of its merchant. */
export interface Merchant {
  /** Its credentials, by the names of the driver's settings. */
  settings: Readonly<Record<string, string>>
  /** The URL for webhooks that it registered. */
  callbackUrl?: string
}

export type Environment = Readonly<Record<string, string | undefined>>
export const environment = (): Environment => process.env

/**
 * `gateways`: the merchant of each, where no variable says otherwise. Throws a TypeError that names
 * the invalid variable.
 */
export function readSettings(
  env: Environment,
  gateways: Readonly<Record<string, { merchant: Merchant['settings'] }>>,
): Settings {
  const text = (name: string, fallback: string) => env[`SIMULATOR_${name}`] || fallback
  const count = (name: string, fallback: number) => {
    const value = Number(text(name, String(fallback)))
    if (Number.isInteger(value) && value >= 0) return value
    throw new TypeError(`SIMULATOR_${name} must be a whole number.`)
  }
  const shared = text('SHARED_URL', '')
  const sharedUrl = URL.parse(shared) ?? undefined
  if (shared && !sharedUrl) throw new TypeError('SIMULATOR_SHARED_URL must be a URL.')
  const merchantOf = (gateway: string, merchant: Merchant['settings']): Merchant => {
    const named = (name: string) => `${gateway}_${name}`.toUpperCase()
    const settings = Object.entries(merchant).map(([name, value]) => [
      name,
      text(named(name), value),
    ])
    const callbackUrl = text(named('callback_url'), '')
    return { settings: Object.fromEntries(settings), ...(callbackUrl && { callbackUrl }) }
  }
  return {
    port: count('PORT', 0),
    file: text('FILE', '') || undefined,
    sharedUrl,
    merchants: Object.fromEntries(
      Object.entries(gateways).map(([name, { merchant }]) => [name, merchantOf(name, merchant)]),
    ),
    merchant: text('MERCHANT', 'Signalbox Shop'),
    retriesMs: readWaits(text('RETRIES_MS', '1000 2000 4000 8000')),
    refundMs: count('REFUND_MS', 500),
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
