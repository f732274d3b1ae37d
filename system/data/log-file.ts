// Lines in a file that does not grow for ever: when it is full it gets the name that the last run's
// log has, too, and a new one begins.

import { createWriteStream, renameSync, statSync, type WriteStream } from 'node:fs'
import { openToAdd } from '../../worker/shared/plain-file-node.ts'

const MAX_BYTES = 16 << 20

export function openLogFile(file: string, maxBytes = MAX_BYTES) {
  const open = (): WriteStream => {
    // Opened at once: what is renamed later must be what was written to.
    const stream = createWriteStream(file, { fd: openToAdd(file) })
    // A full disk is no reason to end what is logged.
    return stream.on('error', () => undefined)
  }
  let stream = open()
  let bytes = statSync(file, { throwIfNoEntry: false })?.size ?? 0
  return {
    write(line: string): void {
      if (bytes >= maxBytes) {
        stream.end()
        try {
          renameSync(file, `${file}.1`)
        } catch {
          // It was moved away.
        }
        stream = open()
        bytes = 0
      }
      stream.write(line)
      bytes += Buffer.byteLength(line)
    },
    close: () => new Promise<void>((resolve) => stream.end(() => resolve())),
  }
}
