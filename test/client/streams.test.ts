// Both stream sources, over the app in this process. Which contract they keep: stream-source.ts.

import { fetchStreams } from '../../client/stream-fetch.ts'
import { eventSourcesOver, streamSourceContract } from '../contract/stream-source.ts'
import { processEdge } from '../support/process-edge.ts'

const edge = processEdge()
streamSourceContract('fetch', fetchStreams, () => edge)
streamSourceContract('EventSource', eventSourcesOver, () => edge)
