// Both ways to read the stream, over the app in this process.

import { fetchStreams } from '../../client/stream-fetch.ts'
import { eventSourcesOver, streamSourceContract } from '../contract/stream-source.ts'
import { processEdge } from '../support/process-edge.ts'

const edge = processEdge()
streamSourceContract('fetch', fetchStreams, () => edge)
streamSourceContract('EventSource', eventSourcesOver, () => edge)
