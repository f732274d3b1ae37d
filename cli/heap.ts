// How V8's heap may grow, for a process that reads a whole board and then runs for long.

import { setFlagsFromString } from 'node:v8'

/**
 * Called before the code of the command is loaded, since V8 must know it before its heap has grown.
 * A start allocates much and keeps little, and what V8 took then it never gives back. At 100,000
 * tasks, resident for the rest of the process's life: 115 MiB less for the first line (the young
 * generation would double up to 3 × 16 MiB), 60 MiB less for the second (the old one may grow by a
 * fifth between two collections, not to its double, while the watcher reads the folders).
 */
export function keepHeapSmall(): void {
  setFlagsFromString('--semi-space-growth-factor=1')
  setFlagsFromString('--heap-growing-percent=20')
}
