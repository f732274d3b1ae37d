// The event stream through fetch: sees pings and refusals, sends the token in a header.

import type { Edge } from './requests.ts'
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

/** The fields of one block. A block with only an `id` moves the position and is no message. */
export interface Block {
  id?: string
  data?: string
  retry?: number
}

const LINE_END = /\r\n|\r|\n/

/** Parses server-sent events from chunks of text, as the HTML standard defines. Pure. */
export class SseParser {
  #partialLine = ''
  #block: Block = {}
  #isFirst: boolean = true
  /** The last chunk ended with CR. The next one may begin with the LF of the same line end. */
  #endedByCr: boolean = false

  /** Returns the blocks that this chunk completes, without comments. */
  push(chunk: string): Block[] {
    if (chunk === '') return []
    const text = this.#isFirst && chunk.startsWith('\uFEFF') ? chunk.slice(1) : chunk
    this.#isFirst = false
    const lines = (this.#endedByCr && text.startsWith('\n') ? text.slice(1) : text).split(LINE_END)
    this.#endedByCr = text.endsWith('\r')
    lines[0] = this.#partialLine + lines[0]
    this.#partialLine = lines.pop() ?? ''
    return lines.flatMap((line) => this.#parseLine(line))
  }

  #parseLine(line: string): Block[] {
    if (line === '') {
      const block = this.#block
      this.#block = {}
      return Object.keys(block).length > 0 ? [block] : []
    }
    const colon = line.indexOf(':')
    const name = colon < 0 ? line : line.slice(0, colon)
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '')
    const { data } = this.#block
    if (name === 'data') this.#block.data = data === undefined ? value : `${data}\n${value}`
    // The standard ignores an id with NUL, and it could not be sent back as a header.
    else if (name === 'id' && !value.includes('\0')) this.#block.id = value
    else if (name === 'retry' && /^\d+$/.test(value)) this.#block.retry = Number(value)
    return []
  }
}
