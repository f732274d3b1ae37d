// Each POST to a gateway is one request, also where its connection ends without a whole answer: a
// bank without idempotency keys would make a second payment, or give the money back twice.

import { readFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Host } from '../../tools/harness/hosts.ts'
import { shopHome } from '../../tools/harness/shop-home.ts'
import { freshReference, order, PaymentSystem } from '../support/payment-system.ts'
import { tempFolder } from '../support/temp-folder.ts'

const LATE_MS = 500

/** How the connection ends, once the gateway has carried the request out. */
const CUTS: Readonly<Record<string, (socket: Socket) => unknown>> = {
  'a FIN': (socket) => socket.end(),
  'a RST': (socket) => socket.resetAndDestroy(),
  'a FIN after half a second': async (socket) => {
    await sleep(LATE_MS)
    socket.end()
  },
  'half a header': (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Le'),
  'headers without their body': (socket) => {
    const type = 'Content-Type: application/json'
    socket.end(`HTTP/1.1 200 OK\r\n${type}\r\nContent-Length: 200\r\n\r\n`)
  },
}

interface Arrived {
  /** Whether its connection had brought a request before. */
  isKept: boolean
  /** Undefined: its length is not known beforehand. */
  length: string | undefined
}

/**
 * A proxy before a gateway: it carries out the next request of an endpoint, and ends the connection
 * without a whole answer. It counts what arrives.
 */
class CuttingGateway {
  /** Where the requests go. */
  target = ''
  /** Whether connections are kept after an answer. */
  keeps = true
  #cut: { path: RegExp; end: (socket: Socket) => unknown; arrived: Arrived[] } | undefined
  readonly #used = new WeakSet<Socket>()
  // A connection that is kept is kept for as long as a busy machine needs.
  readonly #server = createServer({ keepAliveTimeout: 60_000 }, (incoming, outgoing) => {
    this.#pass(incoming, outgoing).catch(() => outgoing.destroy())
  })

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /**
   * The first POST to such a path is carried out and cut; later ones are answered. Returns all that
   * arrive from now on.
   */
  cutNext(path: RegExp, cut: string): readonly Arrived[] {
    const arrived: Arrived[] = []
    this.#cut = { path, end: CUTS[cut] ?? (() => undefined), arrived }
    return arrived
  }

  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()))
    this.#server.closeAllConnections()
    await closed
  }

  async #pass(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const { method = 'GET', url = '/', socket, headers } = incoming
    const isKept = this.#used.has(socket)
    this.#used.add(socket)
    const cut = method === 'POST' && this.#cut?.path.test(url) ? this.#cut : undefined
    cut?.arrived.push({ isKept, length: headers['content-length'] })
    const isCut = cut?.arrived.length === 1
    const body = await text(incoming)
    const { authorization = '', 'content-type': type = '' } = headers
    const sent = { authorization, 'content-type': type }
    const answer = await fetch(`${this.target}${url}`, {
      method,
      headers: sent,
      ...(body !== '' && { body }),
    })
    const bytes = await answer.bytes()
    if (cut && isCut) {
      await cut.end(socket)
      return
    }
    const { keeps } = this
    outgoing.writeHead(answer.status, {
      'content-type': answer.headers.get('content-type') ?? 'text/plain',
      ...(!keeps && { connection: 'close' }),
    })
    outgoing.end(bytes)
  }
}

/** A shop that cancels at the bank, which only its own process may do. */
const CANCELS = `import { defineConfig } from './worker/payments/define-config.ts'
export default defineConfig({
  payments: { gateways: { fib: { driver: 'fib' } } },
  async fetch(request, { payments }) {
    const { pathname, searchParams } = new URL(request.url)
    if (pathname !== '/cancel') return undefined
    await payments?.driver('fib').cancel?.(searchParams.get('id') ?? '')
    return new Response('cancelled')
  },
})
`

export function oneRequestContract(host: Host): void {
  const gateway = new CuttingGateway()
  let system: PaymentSystem
  let dir = ''
  beforeAll(async () => {
    dir = tempFolder()
    const home = await shopHome(join(dir, 'home'), { config: CANCELS })
    const variables = { FIB_BASE_URL: await gateway.listen() }
    system = await PaymentSystem.start({ host, home, variables })
    gateway.target = system.simulator.url
  })
  afterAll(async () => {
    await system?.[Symbol.asyncDispose]()
    await gateway.close()
  })

  /** Tries that the edge itself counted as failed: after one it may send what is idempotent. */
  const failedTries = async (endpoint: string): Promise<number> => {
    const lines = (await readFile(join(system.edge.dir, 'edge.log'), 'utf8')).split('\n')
    const isOne = (line: string) =>
      line.includes('payments.gateway.attempt_failed') && line.includes(`"${endpoint}"`)
    return lines.filter(isOne).length
  }

  const refund = async (transactionId: string): Promise<number> => {
    const body = { gateway: 'fib', transactionId, amount: 25_000, reason: 'Broken' }
    return (await system.post('/refunds', body)).status
  }

  /** Whether each request that was cut came on a kept connection, where connections are kept. */
  const kept: boolean[] = []
  const CONNECTIONS = { 'its first connection': false, 'one that was kept': true }
  const all = Object.keys(CUTS).flatMap((cut) =>
    Object.entries(CONNECTIONS).map(([connection, keeps]) => ({ cut, connection, keeps })),
  )

  describe.each(all)(`on ${host}, after $cut on $connection`, ({ cut, keeps }) => {
    /** A payment of the bank, whose request leaves a connection or none. */
    const charged = async (work: 'charged' | 'paid') => {
      gateway.keeps = keeps
      return await system[work]({ gateway: 'fib' })
    }
    // The pool may open another one all the same, and another request may have left one.
    const isKept = expect.any(Boolean)
    const noteKept = ([first]: ReturnType<CuttingGateway['cutNext']>) => {
      if (keeps) kept.push(first?.isKept ?? false)
    }

    it('a charge is one request and one payment', async () => {
      await charged('charged')
      const arrived = gateway.cutNext(/\/payments$/, cut)
      const reference = freshReference()
      const answer = await system.post('/charges', order({ gateway: 'fib', reference }))
      expect(answer.status).toBe(503)
      expect(arrived).toEqual([{ isKept, length: expect.stringMatching(/^[1-9]/) }])
      expect(await system.simulator.payments(reference)).toHaveLength(1)
      noteKept(arrived)
    })

    it('a refund is one request', async () => {
      // The first is answered: so many that fail in a row would open the circuit.
      expect(await refund((await charged('paid')).transactionId)).toBe(200)
      const { transactionId } = await charged('paid')
      const arrived = gateway.cutNext(/\/refund$/, cut)
      await refund(transactionId)
      expect(arrived).toEqual([{ isKept, length: '0' }])
      noteKept(arrived)
    })

    it('a cancellation is one request for each try', async () => {
      const { transactionId } = await charged('charged')
      const before = await failedTries('payments/cancel')
      const arrived = gateway.cutNext(/\/cancel$/, cut)
      await system.edge.fetch(`/cancel?id=${transactionId}`, { method: 'POST' })
      const failed = (await failedTries('payments/cancel')) - before
      expect(failed).toBeGreaterThan(0)
      expect(arrived).toHaveLength(failed + 1)
      expect(arrived[0]).toEqual({ isKept, length: '0' })
      noteKept(arrived)
    })
  })

  it(`on ${host}, what was to be cut on a connection that was kept mostly was`, () => {
    // Deno repeats on connections that are kept, and so keeps none.
    const share = kept.filter(Boolean).length / kept.length
    if (host === 'deno') expect(share).toBe(0)
    else expect(share).toBeGreaterThan(0.5)
  })
}
