// A simulator on a real port, with real clock and network. main.ts and tests open it.

import { randomUUID } from 'node:crypto'
import { hostClock } from '../../worker/shared/clock.ts'
import { createApp } from './app.ts'
import type { Settings } from './config.ts'
import { type NodeServer, serve } from './node-server.ts'
import { Simulator } from './simulator.ts'
import type { EncodedWebhook } from './webhook.ts'

/** A gateway waits this long for a merchant. */
const WEBHOOK_TIMEOUT_MS = 15_000

export interface OpenSimulator extends NodeServer {
  simulator: Simulator
}

export async function openSimulator(settings: Settings): Promise<OpenSimulator> {
  const simulator = new Simulator({ settings, clock: hostClock, newId: randomUUID, post })
  let url = ''
  const server = await serve(settings.port, createApp(simulator, () => url).fetch)
  url = server.url
  return {
    url,
    simulator,
    async close() {
      simulator.close()
      await server.close()
    },
  }
}

async function post(url: string, { headers, body }: EncodedWebhook) {
  const response = await fetch(url, {
    method: 'POST',
    headers,
    body,
    // A redirect does not count as accepted.
    redirect: 'manual',
    signal: AbortSignal.timeout(WEBHOOK_TIMEOUT_MS),
  })
  return { status: response.status, text: await response.text() }
}
