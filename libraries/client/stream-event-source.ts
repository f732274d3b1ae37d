// The event stream through an EventSource and a ticket, for hosts whose fetch cannot stream. An
// EventSource hides pings, so silence is not seen here. Redialling is ours, not the EventSource's.

import type { Clock } from '../../worker/shared/clock.ts'
import type { Edge } from './requests.ts'
import { endOf, type OpenStream, type StreamEvents, type StreamSource } from './stream.ts'
import type { EventSourceClass, EventSourceLike } from './types.ts'

interface Ticket {
  ticket: string
  path: string
  expiresAt: number
  renewAt: number
}

const CLOSED = 2

export function eventSourceStreams(
  edge: Edge,
  EventSource: EventSourceClass,
  clock: Clock,
): StreamSource {
  let known: Ticket | undefined
  const ticketFor = async (controller: AbortController): Promise<Ticket> => {
    if (known && clock.now() < Math.min(known.renewAt, known.expiresAt)) return known
    const { response, credential } = await edge.send('/tickets', { method: 'POST', controller })
    const issued = (await response.json()) as { ticket: string; path: string; expiresAt: string }
    known = {
      ...issued,
      expiresAt: Date.parse(issued.expiresAt),
      renewAt: credential.renewAt,
    }
    return known
  }

  return {
    seesPings: false,
    open(lastEventId, on): OpenStream {
      const controller = new AbortController()
      let isClosed = false
      let source: EventSourceLike | undefined
      const close = () => {
        isClosed = true
        controller.abort()
        source?.close()
      }
      const dial = async () => {
        const { ticket, path, renewAt } = await ticketFor(controller)
        if (isClosed) return
        source = new EventSource(edge.url('/events', { path, ticket, last_event_id: lastEventId }))
        listen(source, { ...on, opened: () => on.opened(renewAt) }, lastEventId, () => {
          // An EventSource closes itself for every status but 200. The ticket may be the cause.
          if (source?.readyState === CLOSED) known = undefined
          close()
        })
      }
      dial().catch((error: unknown) => {
        if (isClosed) return
        close()
        on.ended(endOf(error))
      })
      return { close }
    },
  }
}

function listen(
  source: EventSourceLike,
  on: Omit<StreamEvents, 'opened'> & { opened(): void },
  lastEventId: string | undefined,
  close: () => void,
): void {
  let isOpen = false
  let position = lastEventId
  source.onopen = () => {
    isOpen = true
    on.alive()
    on.opened()
  }
  source.onmessage = ({ data, lastEventId: id }: { data: string; lastEventId: string }) => {
    // For a message without an id, an EventSource repeats the last one.
    const own = id !== '' && id !== position ? id : undefined
    on.alive()
    on.message(data, own)
    if (own === undefined) return
    position = own
    on.position(own)
  }
  source.onerror = () => {
    close()
    on.ended({ reason: isOpen ? 'ended' : 'unreachable' })
  }
}
