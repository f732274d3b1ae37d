// Structured logs: one JSON object a line, or the same for people. Nothing secret leaves here,
// whatever the caller passes.

import { type Fields, type Level, redact } from '../worker/shared/log.ts'

const LEVELS: readonly Level[] = ['debug', 'info', 'warn', 'error']
export type Log = (level: Level, event: string, fields?: Fields) => void
export type LogFormat = 'json' | 'pretty'

/** What was thrown, in words. Anything can be thrown, and a rejection may come from any package. */
export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  // An AggregateError (every address refused) has an empty message and the truth in its code.
  return error.message || ('code' in error ? String(error.code) : error.name)
}

/** Control characters, of a folder's name for example, could rewrite what a terminal shows. */
export const printable = (text: string): string =>
  text.replaceAll(/[\p{Cc}\u2028-\u202e\u2066-\u2069]/gu, (it) => {
    const code = it.codePointAt(0)?.toString(16)
    return `\\u{${code}}`
  })

export function createLog(
  format: LogFormat,
  write: (line: string) => void,
  least: Level = 'info',
  now: () => number = Date.now,
): Log {
  return (level, event, fields = {}) => {
    if (LEVELS.indexOf(level) < LEVELS.indexOf(least)) return
    const time = new Date(now()).toISOString()
    if (format === 'json') {
      write(`${JSON.stringify({ time, level, event, ...fields }, redact)}\n`)
      return
    }
    const rest = Object.entries(fields)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => {
        const shown = redact(name, value)
        const text = typeof shown === 'string' ? shown : JSON.stringify(shown, redact)
        // The lines of a stack are ours.
        return ` ${name}=${value instanceof Error ? text : printable(text)}`
      })
    write(`${time.slice(11, 19)} ${level.padEnd(5)} ${event}${rest.join('')}\n`)
  }
}
