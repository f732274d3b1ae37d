// What the publisher says of itself, for whoever watches it from outside.

import type { StoreState } from '../../worker/board/wire.ts'

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
  store: StoreState['state'] | null
}
