// The receivers of examples/receivers in a folder of their own, with the built package, each on
// another runtime, and real deliveries of an edge on workerd.

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { build } from 'esbuild'
import { Miniflare } from 'miniflare'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freePort } from '../../tools/harness/free-port.ts'
import { denoBinary } from '../../tools/start/deno.ts'
import type { DeliveryRecord, OpenedPayment } from '../../worker/payments/domain/types.ts'
import { serve, type TestServer } from '../support/http.ts'
import { PATIENT } from '../support/patience.ts'
import { EVENTS_SECRET, freshReference, PaymentSystem } from '../support/payment-system.ts'
import { ShopFolder } from '../support/shop-folder.ts'
import type { EdgeProcess } from '../support/start-edge.ts'

const OTHER_SECRET = `whsec_${btoa('a-secret-that-no-receiver-knows')}`

let folder: ShopFolder
let port: string
let orders: Orders
let system: PaymentSystem
/** Signs with a secret that the receivers do not have. */
let forger: EdgeProcess

beforeAll(async () => {
  port = String(await freePort())
  orders = await Orders.start()
  folder = await ShopFolder.make('receivers', ['hono'])
  await writeFile(join(folder.path, 'orders.ts'), orders.client)
  const events = { PAYMENT_EVENTS_URL: `http://127.0.0.1:${port}/events` }
  system = await PaymentSystem.start({ host: 'workerd', variables: events })
  forger = await system.anotherEdge({ PAYMENT_EVENTS_SECRET: OTHER_SECRET })
})
afterAll(async () => {
  await system?.[Symbol.asyncDispose]()
  await orders?.close()
})

/** What `markPaid` of the receivers writes to. */
class Orders {
  readonly paid: string[] = []
  readonly refused: string[] = []
  /** References whose next order fails. */
  readonly failing = new Set<string>()
  readonly #server: TestServer

  private constructor(server: TestServer) {
    this.#server = server
  }

  static async start(): Promise<Orders> {
    const handle = async (request: Request): Promise<Response> => {
      const reference = await request.text()
      const fails = made.failing.delete(reference)
      ;(fails ? made.refused : made.paid).push(reference)
      return new Response(null, { status: fails ? 503 : 204 })
    }
    const made: Orders = new Orders(await serve(handle))
    return made
  }

  /** In place of examples/receivers/orders.ts. */
  get client(): string {
    return `export async function markPaid({ reference }: { reference: string }) {
      const answer = await fetch('${this.#server.url}', { method: 'POST', body: reference })
      if (!answer.ok) throw new Error('The orders answered ' + answer.status)
    }`
  }

  close(): Promise<void> {
    return this.#server.close()
  }
}

interface Receiver {
  stop(): Promise<unknown>
}

const run = (...command: string[]): Promise<Receiver> =>
  folder.run(command, port, { PORT: port, PAYMENT_EVENTS_SECRET: EVENTS_SECRET })

async function runWorker(): Promise<Receiver> {
  const bundled = await build({
    entryPoints: [join(folder.path, 'workers.ts')],
    bundle: true,
    format: 'esm',
    external: ['cloudflare:workers'],
    write: false,
  })
  const worker = new Miniflare({
    compatibilityDate: '2026-07-01',
    host: '127.0.0.1',
    port: Number(port),
    modules: true,
    script: bundled.outputFiles[0]?.text ?? '',
    bindings: { PAYMENT_EVENTS_SECRET: EVENTS_SECRET },
  })
  await worker.ready
  return { stop: () => worker.dispose() }
}

const deno = ['serve', '-A', '--node-modules-dir=manual', '--host', '127.0.0.1', '--port']

describe.each([
  { name: 'Hono on Deno', start: () => run(denoBinary(), ...deno, port, 'hono.ts') },
  { name: 'Workers', start: runWorker },
])('the receiver for $name', ({ start }) => {
  let receiver: Receiver
  beforeAll(async () => {
    receiver = await start()
  })
  afterAll(() => receiver?.stop())

  const deliveryOf = async ({ transactionId }: OpenedPayment, type = 'PaymentSucceeded') => {
    const { events } = await system.story(transactionId)
    return events.find((event) => event.type === type)?.deliveries[0]
  }
  const delivered = async (payment: OpenedPayment, wanted: Partial<DeliveryRecord>) =>
    await expect.poll(() => deliveryOf(payment), PATIENT).toMatchObject(wanted)

  it('gets an event whose handler failed again, and handles it then', async () => {
    const reference = freshReference()
    orders.failing.add(reference)
    const payment = await system.paid({ reference })
    await delivered(payment, { status: 'pending', attempts: 1, lastStatus: 500 })
    expect(orders.refused).toContain(reference)
    expect(orders.paid).not.toContain(reference)
    await system.passTime(payment.transactionId)
    await system.sweep()
    await delivered(payment, { status: 'delivered', lastStatus: 204 })
    expect(orders.paid.filter((one) => one === reference)).toHaveLength(1)
  })

  it('handles an event once that is delivered twice', async () => {
    const payment = await system.paid()
    await delivered(payment, { status: 'delivered' })
    const first = await deliveryOf(payment)
    await system.post(`/deliveries/${first?.id}/redeliver`)
    const isAgain = async () => {
      const { status, deliveredAt } = (await deliveryOf(payment)) ?? {}
      // A receiver that was too slow gets it once more.
      if (status === 'pending') {
        await system.passTime(payment.transactionId)
        await system.sweep()
      }
      return status === 'delivered' && deliveredAt !== first?.deliveredAt
    }
    await expect.poll(isAgain, PATIENT).toBe(true)
    expect(orders.paid.filter((one) => one === payment.reference)).toHaveLength(1)
  })

  it('refuses one of another secret with 401, and says OK to those without a handler', async () => {
    const forged = await system.charged({}, forger)
    await expect
      .poll(() => deliveryOf(forged, 'PaymentInitiated'), PATIENT)
      .toMatchObject({ status: 'pending', lastStatus: 401 })
    const genuine = await system.charged()
    await expect
      .poll(() => deliveryOf(genuine, 'PaymentInitiated'), PATIENT)
      .toMatchObject({ status: 'delivered', lastStatus: 204 })
  })
})
