// The publisher's status, for health checks and metrics.

import type { Failure } from './edge.ts'

export interface PublisherStatus {
  /** The last answer of the edge was a good one. */
  connected: boolean
  /** When the edge last held everything, in milliseconds since 1970. */
  lastSyncAt: number | null
  lastPublishedAt: number | null
  /** Keys that were not sent to the edge yet, without those that a coming sync will find. */
  dirty: number
  /** Something is left to send: dirty keys, or a sync. */
  behind: boolean
  lastError: string | null
  store: 'present' | 'missing' | null
}

export interface PublisherHooks {
  onProgress?: (done: number, total: number) => void
  /** Called for every failure, also for those that are not logged. */
  onFailure?: (failure: Failure) => void
  /** What was hinted is at the edge, so long after the first hint. */
  onPublished?: (ms: number) => void
}
