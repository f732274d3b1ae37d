// Turns what a repository found for a query into the answer for the Worker: a stream, or
// `unchanged` if the client has it already. No I/O.

import type { Found } from './reads.ts'
import type { ReadAnswer } from './repositories.ts'

// A piece is a row or a page of rows; small ones are gathered, because every chunk costs a hop.
const CHUNK_CHARS = 64 << 10

export function answer(found: Found, ifNoneMatch: string | undefined): ReadAnswer {
  if (found.state !== 'found') return { state: found.state }
  const { seq, etag } = found
  if (matchesTag(ifNoneMatch, etag)) return { state: 'unchanged', seq, etag }
  return { state: 'found', seq, etag, body: byteStream(found.pieces) }
}

/** Pulled, never pushed: a slow reader of 100,000 tasks holds one chunk, not all of them. */
function byteStream(pieces: Iterable<string>): ReadableStream<Uint8Array> {
  const iterator = pieces[Symbol.iterator]()
  const encoder = new TextEncoder()
  return new ReadableStream({
    type: 'bytes',
    pull(controller) {
      let text = ''
      let next = iterator.next()
      for (; !next.done; next = iterator.next()) {
        text += next.value
        if (text.length >= CHUNK_CHARS) break
      }
      if (text !== '') controller.enqueue(encoder.encode(text))
      if (!next.done) return
      controller.close()
      // A pull that ends without bytes leaves the reader's own buffer pending for ever.
      controller.byobRequest?.respond(0)
    },
    cancel() {
      iterator.return?.()
    },
  })
}

/** Whether `If-None-Match` names this tag; compared weakly (RFC 9110, 13.1.2). */
function matchesTag(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false
  if (ifNoneMatch.trim() === '*') return true
  const opaque = strip(etag)
  return ifNoneMatch.split(',').some((tag) => strip(tag.trim()) === opaque)
}

const strip = (tag: string): string => (tag.startsWith('W/') ? tag.slice(2) : tag)
