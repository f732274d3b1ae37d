// Follows the log of another process: for the events of payments at the terminal of `npm start`.

import { createReadStream } from 'node:fs'
import { buffer } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'

const FOLLOW_EVERY_MS = 300
const EVENT = /^(Payment|Alert)[A-Z]\w+ /

/** Shows what the listeners of signalbox.config.ts have printed about payments to this file. */
export const followEvents = (
  logFile: string,
  show: (text: string) => void,
  end: AbortSignal,
): Promise<void> => followLines(logFile, (line) => EVENT.test(line) && show(`${line}\n`), { end })

/** Each whole line, once; the last time after the end. */
export async function followLines(
  logFile: string,
  onLine: (line: string) => void,
  { end, everyMs = FOLLOW_EVERY_MS }: { end: AbortSignal; everyMs?: number },
): Promise<void> {
  let at = 0
  while (!end.aborted) {
    await sleep(everyMs, undefined, { signal: end, ref: false }).catch(() => undefined)
    const bytes = await buffer(createReadStream(logFile, { start: at }))
    // The last line may not be whole yet.
    const length = bytes.lastIndexOf('\n') + 1
    at += length
    for (const line of bytes.toString('utf8', 0, length).split('\n')) onLine(line)
  }
}
