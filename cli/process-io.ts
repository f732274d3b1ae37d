// The real process behind Io: its streams and the ways it is asked to end.

import type { Io } from './commands/command.ts'

export function processIo(): Io {
  // Whoever read the logs may end before us; publishing goes on.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined)
  return {
    out: (text) => void process.stdout.write(text),
    err: (text) => void process.stderr.write(text),
    isTerminal: process.stderr.isTTY === true,
    ended,
  }
}

function ended(withParent: boolean): Promise<string> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
      process.once(signal, () => {
        resolve(signal)
        // Whoever asks again does not want to wait for the rest.
        process.on(signal, () => process.exit(1))
      })
    }
    if (!withParent) return
    process.stdin.on('end', () => resolve('parent'))
    process.stdin.on('error', () => resolve('parent'))
    process.stdin.resume()
  })
}
