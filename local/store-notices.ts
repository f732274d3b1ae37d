// Says at the terminal when the board's folder goes away and when it is back, as the log of the
// sidecar tells it.

import { open, stat } from 'node:fs/promises'

export interface StoreNotices {
  /** Of the sidecar, one JSON object a line. */
  logFile: string
  /** Tells the person at the terminal one sentence. */
  notice(sentence: string): void
  /** Calls back once after `ms`, and keeps no process alive for it. */
  after(ms: number, call: () => void): () => void
  /** Ends it. */
  signal: AbortSignal
}

/** Soon for a person, and a look at a file that did not grow costs nothing. */
export const LOOK_EVERY_MS = 500

/** Follows what is logged from now on; resolves when it has begun. */
export async function followStore({ logFile, notice, after, signal }: StoreNotices): Promise<void> {
  let at = (await stat(logFile)).size
  const onEvent = storeNotices(notice)
  const look = async () => {
    const fresh = await readFrom(logFile, at)
    const lines = fresh.subarray(0, fresh.lastIndexOf('\n') + 1)
    at += lines.length
    for (const line of lines.toString('utf8').split('\n')) {
      if (!line.includes('"event":"store.')) continue
      const { event, ...fields } = JSON.parse(line) as Record<string, unknown>
      onEvent(String(event), fields)
    }
  }
  const next = () => {
    if (signal.aborted) return
    const cancel = after(LOOK_EVERY_MS, () => {
      signal.removeEventListener('abort', cancel)
      void look().then(next, next)
    })
    signal.addEventListener('abort', cancel, { once: true })
  }
  next()
}

async function readFrom(path: string, at: number): Promise<Buffer> {
  const file = await open(path, 'r')
  try {
    const { size } = await file.stat()
    const buffer = Buffer.alloc(Math.max(0, size - at))
    const { bytesRead } = await file.read(buffer, 0, buffer.length, at)
    return buffer.subarray(0, bytesRead)
  } finally {
    await file.close()
  }
}

/** Takes the events of a sidecar's log, and tells what a person at the terminal should know. */
export function storeNotices(
  notice: (sentence: string) => void,
): (event: string, fields: Readonly<Record<string, unknown>>) => void {
  let isThere = true
  return (event, fields) => {
    const said = storeSentence(event, fields)
    // A sidecar that was started again says once more what is known.
    if (said === undefined || said.isThere === isThere) return
    isThere = said.isThere
    notice(said.sentence)
  }
}

/** What an event says of the board's folder; undefined: nothing. */
function storeSentence(
  event: string,
  { root, dir, why }: Readonly<Record<string, unknown>>,
): { isThere: boolean; sentence: string } | undefined {
  const board = `The board in ${root ?? dir}`
  switch (event) {
    case 'store.missing':
    case 'store.awaited':
      return { isThere: false, sentence: `${board} is gone; what was published of it stays.` }
    case 'store.unreadable':
      return { isThere: false, sentence: `${board} cannot be read whole: ${why}.` }
    case 'store.present':
      return { isThere: true, sentence: `${board} is back.` }
    default:
      return undefined
  }
}
