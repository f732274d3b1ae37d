// The event stream as text: its ids, and blocks of server-sent events. Pure. The format is the HTML
// standard's: a block ends with an empty line, and CR, LF and CRLF all end a line, so none of them
// may come from data.

import type { Message } from '../wire.ts'

/**
 * `<epoch>-<seq>`. The epoch names one life of a repository's change log: a new log has a new one,
 * so that an old id is never taken for a place in it. The seq names a message of the log.
 */
export interface EventId {
  epoch: string
  seq: number
}

export const formatEventId = (id: EventId): string => `${id.epoch}-${id.seq}`

/** Undefined for a text that Signalbox never sent: its reader is treated as too old. */
export function parseEventId(text: string): EventId | undefined {
  const match = /^([0-9a-z]{1,32})-(0|[1-9][0-9]{0,15})$/.exec(text)
  if (!match?.[1] || !match[2]) return undefined
  const seq = Number(match[2])
  return Number.isSafeInteger(seq) ? { epoch: match[1], seq } : undefined
}

/** A comment block, of one line. Clients ignore it; proxies and idle timers do not. */
export const comment = (text: string): string => `: ${text}\n\n`

/** How long a client waits before it reconnects, in milliseconds. */
export const retry = (ms: number): string => `retry: ${Math.round(ms)}\n\n`

/** A block with an id alone: moves the client's place in the log and fires no event. */
export const idOnly = (id: EventId): string => idBlock(formatEventId(id))

/** A block with an id alone, from its text. */
export const idBlock = (id: string): string => `id: ${safeId(id)}\n\n`

/**
 * One change message: JSON is one line. Without an id the client's place in the log stays where it
 * was.
 */
export const messageFrame = (id: EventId | undefined, message: Message): string =>
  `${id ? `id: ${safeId(formatEventId(id))}\n` : ''}data: ${JSON.stringify(message)}\n\n`

// A line end in an id would let its author write other fields into every stream, and
// browsers drop an id that holds NUL: the client would then resume from the wrong place.
function safeId(id: string): string {
  if (/[\r\n\0]/.test(id)) throw new TypeError('an event id holds a line end or NUL')
  return id
}

const ID_FIELD = new TextEncoder().encode('id: ')
const decoder = new TextDecoder()

/** The id of an encoded frame; undefined when it does not begin with one. */
export function frameId(bytes: Uint8Array): string | undefined {
  if (!ID_FIELD.every((byte, i) => bytes[i] === byte)) return undefined
  const end = bytes.indexOf(10)
  return end < 0 ? undefined : decoder.decode(bytes.subarray(ID_FIELD.length, end))
}
