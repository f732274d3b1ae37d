// Server-sent events as text. Pure. The format is the HTML standard's: a block ends with an empty
// line, and CR, LF and CRLF all end a line, so none of them may come from data.

import { type EventId, formatEventId } from './event-id.ts'
import type { Message } from './wire.ts'

const LINE_END = /\r\n|\r|\n/

/** A comment block. Clients ignore it; proxies and idle timers do not. */
export const comment = (text: string): string =>
  `${text
    .split(LINE_END)
    .map((line) => `: ${line}`)
    .join('\n')}\n\n`

/** How long a client waits before it reconnects, in milliseconds. */
export const retry = (ms: number): string => `retry: ${Math.round(ms)}\n\n`

/** A block with an id alone: moves the client's place in the log and fires no event. */
export const idOnly = (id: EventId): string => idBlock(formatEventId(id))

/** The same of an id as it was sent. */
export const idBlock = (id: string): string => `id: ${safeId(id)}\n\n`

/** One change message; without an id the client's place in the log stays where it was. */
export const messageFrame = (id: EventId | undefined, message: Message): string =>
  frame(id && formatEventId(id), JSON.stringify(message))

/** A block of data; data of several lines becomes several `data:` lines. */
export function frame(id: string | undefined, data: string): string {
  const lines = data.split(LINE_END).map((line) => `data: ${line}`)
  return `${id === undefined ? '' : `id: ${safeId(id)}\n`}${lines.join('\n')}\n\n`
}

// A line end in an id would let whoever chose it write fields of their own into every stream, and
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
