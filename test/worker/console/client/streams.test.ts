// Both ways to read the stream, over the app in this process.

import { EventSource } from 'eventsource'
import { eventSourceStreams } from '../../../../worker/console/client/stream-event-source.ts'
import { fetchStreams } from '../../../../worker/console/client/stream-fetch.ts'
import { streamSourceContract } from '../../../contract/stream-source.ts'
import { processEdge } from '../../../support/process-edge.ts'

const edge = processEdge()
streamSourceContract('fetch', fetchStreams, () => edge)
streamSourceContract(
  'EventSource',
  (client, clock, fetch) => {
    class Source extends EventSource {
      constructor(url: string) {
        super(url, { fetch: (input, init) => fetch(String(input), init as RequestInit) })
      }
    }
    return eventSourceStreams(client, Source, clock)
  },
  () => edge,
)
