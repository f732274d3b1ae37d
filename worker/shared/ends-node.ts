// When what a process works with ends, as numbers: its token of the edge or of the database, and
// the certificate of the address under which it is reached, or which it publishes to. For Node.

import { isIP } from 'node:net'
import { connect } from 'node:tls'
import { decodeJwt } from 'jose'
import type { Metrics } from './metrics.ts'

const TOKENS = ['edge', 'database'] as const
/** A token's file and a certificate are replaced while the process runs. */
const LOOKED_EVERY_MS = 600_000
const ANSWERED_WITHIN_MS = 10_000

/** @forTests The page that lists what is counted is held to it. */
export function endMetrics(metrics: Metrics) {
  const token = metrics.gauge(
    'signalbox_token_end_timestamp_seconds',
    'When the token for the edge (of a sidecar) or for the database ends, as Unix time; 0: there ' +
      'is none, or it has no end.',
    { of: TOKENS },
  )
  const certificate = metrics.gauge(
    'signalbox_certificate_end_timestamp_seconds',
    'When the certificate of SIGNALBOX_PUBLIC_URL, of --share, or of the edge of a sidecar ends, ' +
      'as Unix time; 0: there is none, or it was never seen.',
    {},
  )
  return { token, certificate }
}

export interface EndsPlan {
  /** Those that there are. */
  tokens: Readonly<Partial<Record<(typeof TOKENS)[number], () => string | Promise<string>>>>
  /** Where the certificate is; one of http has none. */
  url: URL | undefined
  signal: AbortSignal
}

/** Looks at once, and again and again until the signal is aborted. */
export function watchEnds(metrics: Metrics, { tokens, url, signal }: EndsPlan): void {
  const ends = endMetrics(metrics)
  async function look(): Promise<void> {
    for (const of of TOKENS) {
      // One that cannot be read is the failure of the program that uses it.
      const text = await Promise.resolve(tokens[of]?.()).catch(() => undefined)
      if (text !== undefined) ends.token.set({ of }, tokenEnd(text))
    }
    const end = url && (await certificateEnd(url).catch(() => undefined))
    if (end !== undefined) ends.certificate.set({}, end / 1_000)
  }
  void look()
  const looking = setInterval(() => void look(), LOOKED_EVERY_MS).unref()
  signal.addEventListener('abort', () => clearInterval(looking))
}

/** As Unix time; 0: it has none, or it is no JSON Web Token. */
function tokenEnd(text: string): number {
  try {
    return decodeJwt(text).exp ?? 0
  } catch {
    return 0
  }
}

/** In ms. Also of one that is not trusted, or has ended. Rejects where nothing answers. */
function certificateEnd({ protocol, hostname, port }: URL): Promise<number | undefined> {
  if (protocol !== 'https:') return Promise.resolve(undefined)
  const host = hostname.replace(/^\[(.*)\]$/, '$1')
  const named = isIP(host) ? {} : { servername: host }
  const asked = { host, port: Number(port || 443), rejectUnauthorized: false, ...named }
  return new Promise((resolve, reject) => {
    const socket = connect(asked, () => {
      resolve(Date.parse(socket.getPeerCertificate().valid_to))
      socket.destroy()
    })
    socket.setTimeout(ANSWERED_WITHIN_MS, () => socket.destroy(new Error('it does not answer')))
    socket.once('error', reject)
  })
}
