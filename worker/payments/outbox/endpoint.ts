// POSTs one event to the host application's endpoint, once. Whether it is tried again is not
// decided here.

import type { Clock } from '../../shared/clock.ts'
import { reasonOf } from '../../shared/log.ts'
import { postOnce, type Sent } from '../../shared/outgoing.ts'
import { createWebhookSigner } from '../../shared/standard-webhook.ts'
import type { EventName } from '../domain/status.ts'

export interface Message {
  /** The same for every attempt, so that the receiver recognises it. */
  id: string
  type: string
  /** When it happened, ms. */
  happenedAt: number
  /** JSON. */
  payload: string
}

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
  const { url } = endpoint
  const post = async ({ id, type, happenedAt, payload }: Message): Promise<Sent> => {
    const timestamp = new Date(happenedAt).toISOString()
    const body = `{"type":"${type}","timestamp":"${timestamp}","data":${payload}}`
    const signature = await signer.sign(id, clock.now(), body)
    const headers = { 'Content-Type': 'application/json', ...signature }
    const letter = { url, headers, body, patienceMs: PATIENCE_MS, shownAs: withoutQuery(url) }
    return await postOnce(letter, { clock, fetch })
  }
  // One whose time no date can have fails alone: the others of its group are delivered.
  return (message) =>
    post(message).catch((error: unknown) => ({ ok: false, error: reasonOf(error) }))
}

/** For everything that people and other programs see: its query may hold a key. */
export function withoutQuery(url: string): string {
  const { origin, pathname } = new URL(url)
  return origin + pathname
}
