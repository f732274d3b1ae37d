// The events of payments at the terminal of `npm start`, whose edge is another process with a log.

import { createReadStream } from 'node:fs'
import { buffer } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'

const FOLLOW_EVERY_MS = 300
const EVENT = /^(Payment|Alert)[A-Z]\w+ /

/** Shows what the listeners of signalbox.config.ts have printed about payments to this file. */
export async function followEvents(
  logFile: string,
  show: (text: string) => void,
  end: AbortSignal,
): Promise<void> {
  let at = 0
  while (!end.aborted) {
    await sleep(FOLLOW_EVERY_MS, undefined, { signal: end, ref: false }).catch(() => undefined)
    const bytes = await buffer(createReadStream(logFile, { start: at }))
    // The last line may not be whole yet.
    const length = bytes.lastIndexOf('\n') + 1
    at += length
    const lines = bytes.toString('utf8', 0, length).split('\n')
    for (const line of lines) if (EVENT.test(line)) show(`${line}\n`)
  }
}
