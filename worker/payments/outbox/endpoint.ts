// POSTs one event to the host application's endpoint, once. Whether it is tried again is not
// decided here.

import { type Clock, within } from '../../shared/clock.ts'
import { reasonOf } from '../../shared/log.ts'
import type { EventName } from '../domain/status.ts'
import { retryAfter } from '../gateways/exchange.ts'
import { createWebhookSigner } from './standard-webhook.ts'

export interface Message {
  /** The same for every attempt, so that the receiver recognises it. */
  id: string
  type: string
  /** When it happened, ms. */
  happenedAt: number
  /** JSON. */
  payload: string
}

/** `status` is the endpoint's answer, if it gave one. */
export type Sent =
  | { ok: true; status: number }
  | { ok: false; status?: number; error: string; retryAfterMs?: number }

/** Never rejects. */
export type Send = (message: Message) => Promise<Sent>

const PATIENCE_MS = 15_000

/** The host application's HTTP endpoint. */
export interface Endpoint {
  url: string
  /** `whsec_…`, valid. The newest first. */
  secrets: readonly string[]
  /** The events that it wants; missing: all. */
  types?: ReadonlySet<EventName>
}

export interface EndpointOptions {
  endpoint: Pick<Endpoint, 'url' | 'secrets'>
  clock: Clock
  fetch: typeof fetch
}

export function createSend({ endpoint, clock, fetch }: EndpointOptions): Send {
  const signer = createWebhookSigner(endpoint.secrets)
  const post = async ({ id, type, happenedAt, payload }: Message, signal: AbortSignal) => {
    const timestamp = new Date(happenedAt).toISOString()
    const body = `{"type":"${type}","timestamp":"${timestamp}","data":${payload}}`
    const signature = await signer.sign(id, clock.now(), body)
    const headers = {
      'Content-Type': 'application/json',
      'User-Agent': 'Signalbox',
      ...signature,
    }
    // A redirect is not followed: a signed event must not go to an address that is not configured.
    const init = { method: 'POST', headers, body, signal, redirect: 'manual' } as const
    const response = await fetch(endpoint.url, init)
    // The body of the answer is not read, however long it is.
    response.body?.cancel().catch(() => undefined)
    return response
  }

  return async (message) => {
    try {
      const response = await within(clock, PATIENCE_MS, (signal) => post(message, signal))
      const { ok, status } = response
      if (ok) return { ok, status }
      const retryAfterMs = retryAfter(response.headers.get('retry-after'), clock.now())
      return {
        ok,
        status,
        error: `The endpoint answered ${status}.`,
        ...(retryAfterMs !== undefined && { retryAfterMs }),
      }
    } catch (error) {
      // Deno names the whole address.
      return {
        ok: false,
        error: reasonOf(error).replaceAll(endpoint.url, withoutQuery(endpoint.url)),
      }
    }
  }
}

/** For everything that people and other programs see: its query may hold a key. */
export function withoutQuery(url: string): string {
  const { origin, pathname } = new URL(url)
  return origin + pathname
}
