// The event stream by fetch: sees pings and refusals, sends the token in a header, not in a URL.

import type { Edge } from './edge.ts'
import { SseParser } from './sse-parser.ts'
import type { OpenStream, StreamEvents, StreamSource } from './stream.ts'
import { endOf } from './stream-end.ts'
import { BoardError } from './types.ts'

export function fetchStreams(edge: Edge): StreamSource {
  return {
    seesPings: true,
    open(lastEventId, on): OpenStream {
      const controller = new AbortController()
      let isClosed = false
      read(edge, { lastEventId, on, controller, isClosed: () => isClosed }).catch(
        (error: unknown) => {
          if (isClosed) return
          // What is left of it, such as the body of an answer that was no stream.
          controller.abort()
          on.ended(endOf(error))
        },
      )
      return {
        close() {
          isClosed = true
          controller.abort()
        },
      }
    },
  }
}

interface Reading {
  lastEventId: string | undefined
  on: StreamEvents
  controller: AbortController
  isClosed(): boolean
}

async function read(edge: Edge, reading: Reading): Promise<void> {
  const { lastEventId, on, controller, isClosed } = reading
  const { response, credential } = await edge.send('/events', {
    headers: {
      Accept: 'text/event-stream',
      ...(lastEventId !== undefined && { 'Last-Event-ID': lastEventId }),
    },
    controller,
  })
  if (isClosed()) return
  const type = response.headers.get('Content-Type') ?? 'none'
  if (!type.startsWith('text/event-stream')) {
    throw new BoardError(response.status, 'no_stream', `The edge answered with ${type}.`)
  }
  if (!response.body) {
    throw new BoardError(400, 'no_streaming', 'This fetch cannot stream: give an EventSource.')
  }
  const reader = response.body.getReader()
  const decoder = new TextDecoder()
  const parser = new SseParser()
  let isOpen = false
  for (;;) {
    const { done, value } = await reader.read()
    if (isClosed()) return
    if (done) return on.ended({ reason: 'ended' })
    on.alive()
    for (const { id, data, retry } of parser.push(decoder.decode(value, { stream: true }))) {
      if (retry !== undefined) on.retry(retry)
      if (data !== undefined) on.told(data, id)
      if (isClosed()) return
      if (id !== undefined) {
        on.place(id)
        // The edge says `: connected` before it has joined the repository; the id comes after.
        if (!isOpen) on.opened(credential.renewAt)
        isOpen = true
      }
      if (isClosed()) return
    }
  }
}
