// What a command has of the terminal and of its process, and how it prints sentences there.

import { type Clock, hostClock } from '../worker/shared/clock.ts'
import { createLog, type Fields, type Level } from '../worker/shared/log.ts'
import { printable } from '../worker/shared/printable.ts'

export interface Io {
  /** Results only: a token, a report. */
  out(text: string): void
  /** Logs, notices, errors. */
  err(text: string): void
  /** Standard error is a terminal. */
  isTerminal: boolean
  /** Resolves with the line that is typed. Absent: nobody is at the terminal. */
  ask?(question: string): Promise<string>
  /** `--log json`: sentences are lines of the log, too. */
  logsJson?: boolean
  /** Aborted when the process is asked to end; the reason is a word. */
  shutdownSignal(options?: ShutdownOptions): AbortSignal
  /** Sends to the parent process, if it has a channel to this one. */
  sendToParent?(message: object): void
  /** The same, and resolves with the answer. */
  askParent?(about: object): Promise<{ why?: string }>
}

export interface ShutdownOptions {
  /** The end of standard input asks, too. */
  withParent?: boolean | undefined
  /** The name under which npm runs us: if it begins with `start`, npm's end asks, too. */
  npmScript?: string | undefined
  /** Absent: a second signal ends the process at once. */
  onSecondSignal?: () => void
  /** Absent: SIGHUP asks, as a terminal does that closes. */
  onHangup?: () => void
}

/** Prints one sentence for the person at the terminal. */
export const noticeTo =
  (io: Io, level: Level = 'info') =>
  (sentence: string): void => {
    if (io.logsJson) createLog('json', io.err)(level, 'signalbox.notice', { message: sentence })
    else io.err(`signalbox: ${printable(sentence)}\n`)
  }

/** Prints a result: the text, or under `--log json` the event. */
export function announce(io: Io, text: string, event: string, fields: Fields = {}): void {
  if (io.logsJson) createLog('json', io.out)('info', event, fields)
  else io.out(text)
}

/** For a command that is shown: one word of a shell. */
export const quote = (text: string): string =>
  /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`

const SAID_AFTER_MS = 1_000

/** Prints after a second of silence what is done: it would look as if it hung. */
export async function saying<Result>(
  sentence: string,
  { io, clock = hostClock }: { io: Io; clock?: Pick<Clock, 'after'> },
  work: () => Promise<Result>,
): Promise<Result> {
  const done = clock.after(SAID_AFTER_MS, () => noticeTo(io)(sentence))
  try {
    return await work()
  } finally {
    done()
  }
}
