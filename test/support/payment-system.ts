// Payments as in production: libSQL's server, the simulator and an edge, each in its own process,
// and a host application that gets Standard Webhooks.

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, vi } from 'vitest'
import { gatewaySecrets, simulatedGateways } from '../../system/local/gateways.ts'
import { loopbackUrl } from '../../system/local/ports.ts'
import { fileIn, type PaymentsDatabase, startLibsql } from '../../tools/harness/database.ts'
import { freePort } from '../../tools/harness/free-port.ts'
import type { Host } from '../../tools/harness/hosts.ts'
import { Process } from '../../tools/harness/process.ts'
import { SimulatorControl } from '../../tools/harness/simulator-control.ts'
import { simulatorProcess } from '../../tools/start/processes.ts'
import type { OpenedPayment, Story, Transaction } from '../../worker/payments/domain/types.ts'
import { token } from './edge.ts'
import { EventReceiver } from './event-receiver.ts'
import { jsonOf } from './json-of.ts'
import { PATIENT } from './patience.ts'
import { programEnv } from './run-home.ts'
import { type EdgeProcess, startEdge, type Variables } from './start-edge.ts'
import { tempFolder } from './temp-folder.ts'

export const SECRETS = gatewaySecrets('a-secret-for-tests-of-32-bytes-or-more')
export const EVENTS_SECRET = `whsec_${btoa('a-secret-of-the-host-application')}`

/** A payment as `GET /api/payments/transactions/{id}` returns it. */
export type TransactionStory = Transaction & Omit<Story, 'transaction'>

interface PaymentSystemPlan {
  host: Host
  /** The folder of a shop of its own, as `shopHome` makes it. */
  home?: string
  /** Instead of those that every edge of it has. */
  variables?: Variables
  /** In a file, which only one process of Node can have, or libSQL's server. */
  database?: 'file' | 'server'
}

const ofHost = { workerd: 'server', deno: 'server', node: 'file' } as const

export class PaymentSystem implements AsyncDisposable {
  readonly host: Host
  readonly database: PaymentsDatabase
  readonly edge: EdgeProcess
  readonly simulator: SimulatorControl
  readonly receiver: EventReceiver
  /** The address of the metrics, for hosts that are a process. */
  readonly metricsUrl: string
  readonly #edgeOf: (more: Variables) => Promise<EdgeProcess>
  readonly #stops: (() => unknown)[]

  private constructor(parts: Parts) {
    this.host = parts.host
    this.database = parts.database
    this.edge = parts.edge
    this.simulator = parts.simulator
    this.receiver = parts.receiver
    this.metricsUrl = parts.metricsUrl
    this.#edgeOf = parts.edgeOf
    this.#stops = parts.stops
  }

  static async start(plan: PaymentSystemPlan): Promise<PaymentSystem> {
    const { host, home = process.cwd(), variables, database: where = ofHost[host] } = plan
    const receiver = new EventReceiver(EVENTS_SECRET)
    const [simulatorPort, metricsPort] = [await freePort(), await freePort()]
    const dir = tempFolder()
    const [database] = await Promise.all([
      where === 'file' ? fileIn(dir) : startLibsql({ dir }),
      receiver.listen(),
    ])
    const edgeOf = (more: Variables) =>
      startEdge(
        host,
        (origin) => ({
          LIBSQL_URL: database.url,
          LIBSQL_AUTH_TOKEN: database.token,
          ...simulatedGateways(SECRETS, loopbackUrl(simulatorPort)),
          PAYMENT_PUBLIC_URL: origin,
          PAYMENT_EVENTS_URL: receiver.url,
          PAYMENT_EVENTS_SECRET: EVENTS_SECRET,
          ...variables,
          ...more,
        }),
        { home },
      )
    const edge = await edgeOf({ METRICS_PORT: String(metricsPort) })
    const gateways = simulatorIn(dir, simulatorPort, edge.origin)
    await gateways.start()
    const simulator = new SimulatorControl(loopbackUrl(simulatorPort))
    const stops = [
      () => edge.close(),
      () => gateways.stop(),
      () => database.close(),
      () => receiver.close(),
    ]
    const metricsUrl = `http://127.0.0.1:${metricsPort}/metrics`
    const parts = { host, database, edge, simulator, receiver, edgeOf, stops, metricsUrl }
    return new PaymentSystem(parts)
  }

  /** Starts another edge on the same database, with other settings. It ends with the system. */
  async anotherEdge(variables: Variables): Promise<EdgeProcess> {
    const edge = await this.#edgeOf(variables)
    this.#stops.unshift(() => edge.close())
    return edge
  }

  /** A request below `/api/payments`. By default with a token of both scopes. */
  async api(path: string, init: RequestInit = {}, edge = this.edge): Promise<Response> {
    const headers = new Headers(init.headers)
    if (!headers.has('Authorization')) {
      const scope = 'payments:read payments:write'
      headers.set('Authorization', `Bearer ${await token({ scope, repos: [] })}`)
    }
    return await edge.fetch(`/api/payments${path}`, { ...init, headers })
  }

  post(
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
    edge = this.edge,
  ): Promise<Response> {
    const json = body === undefined ? {} : { body: JSON.stringify(body) }
    return this.api(path, { method: 'POST', headers, ...json }, edge)
  }

  async get<T>(path: string): Promise<T> {
    const answer = await this.api(path)
    return jsonOf<T>(answer)
  }

  story(transactionId: string): Promise<TransactionStory> {
    return this.get(`/transactions/${transactionId}`)
  }

  async untilStatus(transactionId: string, status: string): Promise<void> {
    await vi.waitUntil(async () => (await this.story(transactionId)).status === status, PATIENT)
  }

  /** Waits until the endpoint has accepted so many events, of these types in any order. */
  async expectEvents(transactionId: string, types: readonly string[]): Promise<void> {
    const taken = () => this.receiver.typesOf(transactionId)
    await vi.waitUntil(() => taken().length >= types.length, PATIENT)
    expect(taken().toSorted(byText)).toEqual(types.toSorted(byText))
  }

  /** A charge that succeeds, with default fields. */
  async charged(own: Record<string, unknown> = {}, edge = this.edge): Promise<OpenedPayment> {
    const answer = await this.post('/charges', order(own), {}, edge)
    return jsonOf<OpenedPayment>(answer, 201)
  }

  /** A charge that is paid on the gateway's page. */
  async paid(own: Record<string, unknown> = {}): Promise<OpenedPayment> {
    const charge = await this.charged(own)
    await this.simulator.act(charge.gatewayTransactionId, 'pay')
    return charge
  }

  async sweep(edge = this.edge): Promise<Record<string, number>> {
    return (await (await this.post('/sweep', undefined, {}, edge)).json()) as Record<string, number>
  }

  /** Makes later checks and deliveries due now, so that a test does not wait for an hour. */
  async passTime(transactionId: string): Promise<void> {
    const args = { id: transactionId }
    const due = 'SET next_attempt_at = 0, leased_until = NULL'
    const events = 'SELECT id FROM payment_outbox WHERE transaction_id = :id'
    for (const sql of [
      `UPDATE payment_transactions SET next_check_at = 0, called_until = NULL
        WHERE id = :id AND next_check_at IS NOT NULL`,
      `UPDATE payment_outbox ${due} WHERE transaction_id = :id`,
      `UPDATE payment_deliveries ${due} WHERE outbox_id IN (${events})`,
    ]) {
      await this.database.query(sql, args)
    }
  }

  /** Rows of every table. */
  async rows(): Promise<Record<string, number>> {
    const tables = ['transactions', 'webhook_events', 'refunds', 'outbox', 'deliveries', 'alerts']
    const counts = tables.map((table) => `(SELECT COUNT(*) FROM payment_${table}) AS ${table}`)
    const [row] = await this.database.query(`SELECT ${counts.join(', ')}`)
    return row as Record<string, number>
  }

  /** The lines of the edge's log. */
  async log(edge = this.edge): Promise<string> {
    return await readFile(join(edge.dir, 'edge.log'), 'utf8')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const stop of this.#stops) await stop()
  }
}

interface Parts {
  host: Host
  database: PaymentsDatabase
  edge: EdgeProcess
  simulator: SimulatorControl
  receiver: EventReceiver
  metricsUrl: string
  edgeOf: (more: Variables) => Promise<EdgeProcess>
  stops: (() => unknown)[]
}

/** With few repetitions of webhooks and fast refunds of the bank. */
function simulatorIn(dir: string, port: number, edge: string): Process {
  const haste = { SIMULATOR_RETRIES_MS: '20 20', SIMULATOR_REFUND_MS: '300' }
  const spec = simulatorProcess({
    port,
    callbackOf: (gateway) => `${edge}/payments/webhooks/${gateway}`,
    secrets: SECRETS,
    env: { ...programEnv(dir), ...haste },
    logsDir: dir,
    logFile: join(dir, 'simulator.log'),
  })
  return new Process(spec, `${loopbackUrl(port)}/health`)
}

let orders = 0
/** A reference that no other test uses. */
export const freshReference = (): string => `order-${++orders}-${crypto.randomUUID().slice(0, 8)}`

/** A request that the simulated gateways accept. FIB gets only the description. */
export function order(own: Record<string, unknown> = {}): Record<string, unknown> {
  const reference = own.reference ?? freshReference()
  return {
    gateway: 'redirect',
    reference,
    amount: 25_000,
    currency: 'IQD',
    description: reference,
    ...own,
  }
}

export const byText = (one: string, other: string): number => (one < other ? -1 : 1)
