// Which watcher suits a store, and what to do where the system refuses it.

import type { Watch } from './watch.ts'
import { watchChokidar, watchPolling } from './watch-chokidar.ts'
import { watchNative } from './watch-native.ts'

export type WatchOption = 'auto' | 'chokidar' | 'native' | 'polling'

/** From this many files on `auto` takes the native watcher. */
export const NATIVE_FROM_FILES = 0

const WATCHES = { chokidar: watchChokidar, native: watchNative, polling: watchPolling }

/** Watches as the operator says, or as suits so many files; falls back to polling. */
export function chooseWatch(fileCount: number, option: WatchOption): Watch {
  if (option === 'polling') return watchPolling
  const suited = fileCount < NATIVE_FROM_FILES ? 'chokidar' : 'native'
  return withFallback(WATCHES[option === 'auto' ? suited : option], watchPolling)
}

/** Where `watch` cannot start (no watches left, none on this mount) `fallback` does, and says so. */
export function withFallback(watch: Watch, fallback: Watch): Watch {
  return async (root, folders, events) => {
    try {
      return await watch(root, folders, events)
    } catch (error) {
      const watcher = await fallback(root, folders, events)
      const why = error instanceof Error ? error.message : String(error)
      events.onGap(`watching by ${watcher.name} instead: ${why}`)
      return watcher
    }
  }
}
