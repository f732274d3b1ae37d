// A delivery, from its bytes to an event that is proven to be Signalbox's, or why it is none.

import type { VerifyWebhook } from '../../worker/shared/standard-webhook.ts'

/** An event as it was delivered. */
export interface ReceivedEvent {
  /** The same for each delivery of this event. */
  id: string
  type: string
  /** When it happened, ISO 8601. */
  timestamp: string
  data: unknown
}

export type Refusal =
  | 'method_not_allowed'
  | 'body_used'
  | 'payload_too_large'
  | 'invalid_signature'
  | 'stale'
  | 'invalid_body'

export type ReadEvent = { ok: true; event: ReceivedEvent } | { ok: false; reason: Refusal }

/** The largest event is one that holds 64 KiB of what a gateway sent. */
const MAX_BYTES = 256 << 10
/** As the standard's own libraries have it. The time is of the delivery: each has a new one. */
const TOLERANCE_MS = 5 * 60_000

export async function readEvent(
  request: Request,
  verify: VerifyWebhook,
  now: () => number,
): Promise<ReadEvent> {
  if (request.method !== 'POST') return refuse('method_not_allowed')
  if (request.bodyUsed || request.body?.locked) return refuse('body_used')
  const id = request.headers.get('webhook-id') ?? ''
  const timestamp = request.headers.get('webhook-timestamp') ?? ''
  const signatures = request.headers.get('webhook-signature') ?? ''
  if (id === '' || !/^\d{1,12}$/.test(timestamp)) return refuse('invalid_signature')

  let bytes: Uint8Array | undefined
  try {
    bytes = await bytesOf(request)
  } catch {
    return refuse('invalid_body')
  }
  if (!bytes) return refuse('payload_too_large')
  const body = textOf(bytes)
  if (body === undefined || !(await verify({ id, timestamp, signatures, body }))) {
    return refuse('invalid_signature')
  }
  if (Math.abs(now() - Number(timestamp) * 1_000) > TOLERANCE_MS) return refuse('stale')
  const content = contentOf(body)
  return content ? { ok: true, event: { id, ...content } } : refuse('invalid_body')
}

const refuse = (reason: Refusal): ReadEvent => ({ ok: false, reason })

/** Undefined: there are too many. A length header is not trusted. */
async function bytesOf({ body }: Request): Promise<Uint8Array | undefined> {
  const parts: Uint8Array[] = []
  let length = 0
  const reader: ByteReader | undefined = body?.getReader()
  for (;;) {
    const value = (await reader?.read())?.value
    if (value === undefined) break
    length += value.byteLength
    if (length > MAX_BYTES) {
      await reader?.cancel()
      return undefined
    }
    parts.push(value)
  }
  const bytes = new Uint8Array(length)
  let at = 0
  for (const part of parts) {
    bytes.set(part, at)
    at += part.byteLength
  }
  return bytes
}

/** What the hosts' types of a body's reader agree on. */
interface ByteReader {
  read(): Promise<{ value?: Uint8Array | undefined }>
  cancel(): Promise<unknown>
}

/** Undefined where the bytes are no UTF-8: replaced, they would not be what was signed. */
function textOf(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}

function contentOf(body: string): Omit<ReceivedEvent, 'id'> | undefined {
  try {
    const { type, timestamp, data } = JSON.parse(body) ?? {}
    const isEvent = typeof type === 'string' && typeof data === 'object' && data !== null
    return isEvent ? { type, timestamp: String(timestamp), data } : undefined
  } catch {
    return undefined
  }
}
