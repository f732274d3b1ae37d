// fetch for gateways under Deno, over node:http. Deno's own sends a POST again when its connection
// ends without a whole answer, though the gateway may have carried it out: a second payment at a
// bank without idempotency keys, a second refund.

import { Agent, type IncomingMessage, request as overHttp } from 'node:http'
import { request as overHttps, Agent as TlsAgent } from 'node:https'

/** By their status: a Response refuses a body. */
const WITHOUT_BODY = [204, 205, 304]

/**
 * Follows no redirect. A GET changes nothing and may be sent twice: it is Deno's own. `env`: has
 * `HTTPS_PROXY` and `NO_PROXY`, where Deno's fetch finds them, too.
 */
export function createFetchOnce(env: Record<string, string | undefined>): typeof fetch {
  // On a connection that was kept, Deno's node:http repeats a POST as well, even after an abort.
  const alone = { keepAlive: false, proxyEnv: env }
  const agent = new Agent(alone)
  // As Deno's fetch does, whatever NODE_TLS_REJECT_UNAUTHORIZED says.
  const tlsAgent = new TlsAgent({ ...alone, rejectUnauthorized: true })

  function send({ url, method, headers, signal }: Request, body: Uint8Array) {
    const options = {
      method,
      headers: {
        // Some firewalls refuse what names no client, and an answer is not unpacked here.
        'user-agent': navigator.userAgent,
        'accept-encoding': 'identity',
        ...Object.fromEntries(headers),
        'content-length': body.byteLength,
      },
      signal,
    }
    return new Promise<IncomingMessage>((resolve, reject) => {
      const sent = url.startsWith('https:')
        ? overHttps(url, { ...options, agent: tlsAgent }, resolve)
        : overHttp(url, { ...options, agent }, resolve)
      // As fetch fails, with the code of the cause.
      sent.on('error', (cause) => reject(new TypeError('fetch failed', { cause })))
      sent.end(body)
    })
  }

  return async (input, init) => {
    const asked = new Request(input, init)
    if (asked.method === 'GET') return await fetch(asked)
    const answer = await send(asked, new Uint8Array(await asked.arrayBuffer()))
    const { statusCode: status = 0 } = answer
    const named = Object.entries(answer.headers).map(([name, value]) => [name, String(value)])
    const headers: Record<string, string> = Object.fromEntries(named)
    if (!WITHOUT_BODY.includes(status)) {
      return new Response(ReadableStream.from(answer), { status, headers })
    }
    answer.resume()
    return new Response(null, { status, headers })
  }
}
