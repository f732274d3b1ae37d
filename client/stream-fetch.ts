// The event stream through fetch: sees pings and refusals, sends the token in a header.

import type { Edge } from './edge.ts'
import { SseParser } from './sse-parser.ts'
import { endOf, type OpenStream, type StreamEvents, type StreamSource } from './stream.ts'
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
          // Frees what is left, such as the body of a response that is not a stream.
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
    throw new BoardError(
      400,
      'no_streaming',
      'This fetch cannot stream: set the option EventSource.',
    )
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
      if (data !== undefined) on.message(data, id)
      if (isClosed()) return
      if (id !== undefined) {
        on.position(id)
        // The edge sends `: connected` before it has subscribed, and the first id after that.
        if (!isOpen) on.opened(credential.renewAt)
        isOpen = true
      }
      if (isClosed()) return
    }
  }
}
