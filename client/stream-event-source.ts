// The event stream by an EventSource and a ticket, for hosts whose fetch cannot stream. It hides
// pings, so silence cannot be seen here; and what it would do by itself, redialling, we do.

import type { Clock } from './clock.ts'
import type { Edge } from './edge.ts'
import type { EventSourceClass, EventSourceLike } from './event-source.ts'
import type { OpenStream, StreamEvents, StreamSource } from './stream.ts'
import { endOf } from './stream-end.ts'

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
          // It gave up, as it does for any status but 200: perhaps because of the ticket.
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
  let place = lastEventId
  source.onopen = () => {
    isOpen = true
    on.alive()
    on.opened()
  }
  source.onmessage = ({ data, lastEventId: id }: { data: string; lastEventId: string }) => {
    // It repeats the last id on messages that have none of their own.
    const own = id !== '' && id !== place ? id : undefined
    on.alive()
    on.told(data, own)
    if (own === undefined) return
    place = own
    on.place(own)
  }
  source.onerror = () => {
    close()
    on.ended({ reason: isOpen ? 'ended' : 'unreachable' })
  }
}
