// The simulator in its own process, and its control API for tests.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Child, spawnChild } from '../../local/child.ts'
import type { GatewaySecrets } from '../../local/gateways.ts'
import type { Faults } from '../../local/simulator/faults.ts'
import type { Action, Payment } from '../../local/simulator/payments.ts'
import type { Sent } from '../../local/simulator/webhooks.ts'
import { simulatorProcess, simulatorReady, simulatorUrl } from '../../local/simulator-process.ts'
import { jsonOf } from './json-of.ts'
import { programEnv } from './run-home.ts'

/** The control API of a running simulator. */
export class SimulatorControl {
  readonly url: string
  #orders: Record<string, Faults> = {}

  constructor(url: string) {
    this.url = url
  }

  /** Sets the faults of one order. Those of other orders stay. */
  async faults(order: string, faults: Faults): Promise<void> {
    this.#orders[order] = faults
    const body = JSON.stringify({ orders: this.#orders })
    await this.#ask('PUT', '/faults', body)
  }

  /** Sets the faults for all orders, and removes all others. */
  async everywhere(faults: Faults): Promise<void> {
    this.#orders = {}
    await this.#ask('PUT', '/faults', JSON.stringify({ all: faults }))
  }

  /** Resolves when all webhooks are accepted or given up. */
  act(paymentId: string, action: Action): Promise<Payment> {
    return this.#ask('POST', `/payments/${paymentId}/${action}?wait`)
  }

  payment(paymentId: string): Promise<Payment> {
    return this.#ask('GET', `/payments/${paymentId}`)
  }

  /** Newest first. */
  async payments(order: string): Promise<Payment[]> {
    const path = `/payments?order=${encodeURIComponent(order)}`
    return (await this.#ask<{ payments: Payment[] }>('GET', path)).payments
  }

  /** Every attempt at a webhook of this payment, with its response. */
  async webhooks(paymentId: string): Promise<Sent[]> {
    return (await this.#ask<{ webhooks: Sent[] }>('GET', `/webhooks?payment=${paymentId}`)).webhooks
  }

  async #ask<Answer>(method: string, path: string, body?: string): Promise<Answer> {
    const answer = await fetch(`${this.url}/_control${path}`, { method, ...(body && { body }) })
    return jsonOf<Answer>(answer)
  }
}

export interface SimulatorPlace {
  port: number
  callbackOf: (gateway: string) => string
  secrets: GatewaySecrets
}

/** Settings with few repetitions of webhooks and fast refunds of the bank. */
const HASTE = { SIMULATOR_RETRIES_MS: '20 20', SIMULATOR_FIB_REFUND_MS: '300' }

export async function startSimulator(
  place: SimulatorPlace,
): Promise<{ control: SimulatorControl; stop(): Promise<void> }> {
  const dir = await mkdtemp(join(tmpdir(), 'signalbox-simulator-'))
  const env = { ...programEnv(dir), ...HASTE }
  const folders = { logsDir: dir, logFile: join(dir, 'simulator.log') }
  const home = process.cwd()
  const child: Child = spawnChild(simulatorProcess({ ...place, ...folders, home, env }))
  const url = simulatorUrl(place.port)
  const signal = AbortSignal.timeout(60_000)
  await simulatorReady(url, { what: 'the simulator', waitMs: 60_000, signal })
  return {
    control: new SimulatorControl(url),
    async stop() {
      child.stop()
      await child.ended
      await rm(dir, { recursive: true, force: true })
    },
  }
}
