// The stream of a board, read as it comes: what a call waits for.

import type { Message } from '../api/types.ts'
import { SseParser } from '../client/stream-fetch.ts'
import { type Call, sent } from './caller.ts'

export interface Change {
  /** Absent: only the position is new; first of all when the stream brings every change. */
  message?: Message
  /** To go on from. */
  id?: string
}

export interface Following {
  /** The id of the last change that is known. */
  since?: string | undefined
  signal: AbortSignal
}

/** Ends with the signal, or with the stream. Throws Refused. */
export async function* changesOf(
  call: Call,
  board: string,
  { since, signal }: Following,
): AsyncGenerator<Change> {
  const headers = {
    Accept: 'text/event-stream',
    ...(since !== undefined && { 'Last-Event-ID': since }),
  }
  const { body } = await sent(call, '/events', { board }, { headers, signal })
  const reader = body?.getReader()
  const decoder = new TextDecoder()
  const parser = new SseParser()
  const end = () => void reader?.cancel().catch(() => undefined)
  signal.addEventListener('abort', end)
  try {
    while (!signal.aborted) {
      const read = await reader?.read()
      if (!read || read.done) return
      for (const { data, id } of parser.push(decoder.decode(read.value, { stream: true }))) {
        if (data === undefined && id === undefined) continue
        const message = data !== undefined && { message: JSON.parse(data) as Message }
        yield { ...message, ...(id !== undefined && { id }) }
      }
    }
  } catch (error) {
    // What was aborted fails, on some hosts.
    if (!signal.aborted) throw error
  } finally {
    signal.removeEventListener('abort', end)
    end()
  }
}

/** Aborted when the time is over, or nobody waits for the call. */
export const within = ({ signal }: Call, waitSeconds: number): AbortSignal =>
  AbortSignal.any([signal, AbortSignal.timeout(waitSeconds * 1_000)])
