// Structured logs: one JSON object a line, or the same for people. Nothing secret leaves here,
// whatever the caller passes.

import { type Fields, type Level, redact } from '../worker/shared/log.ts'
import { jsonText, printable } from '../worker/shared/printable.ts'

const LEVELS: readonly Level[] = ['debug', 'info', 'warn', 'error']
export type Log = (level: Level, event: string, fields?: Fields) => void
export type LogFormat = 'json' | 'pretty'

/** What was thrown, in words. Anything can be thrown, and a rejection may come from any package. */
export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  // An AggregateError (every address refused) has an empty message and the truth in its code.
  return error.message || ('code' in error ? String(error.code) : error.name)
}

/** The lines of a stack are ours, and its message is not. */
export function printableStack(stack: string): string {
  const from = stack.search(/\n {4}at /)
  if (from === -1) return printable(stack)
  const lines = stack.slice(from).split('\n')
  return `${printable(stack.slice(0, from))}${lines.map(printable).join('\n')}`
}

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
      write(`${jsonText({ time, level, event, ...fields }, redact)}\n`)
      return
    }
    const rest = Object.entries(fields)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => {
        const shown = redact(name, value)
        const text = typeof shown === 'string' ? shown : JSON.stringify(shown, redact)
        return ` ${name}=${value instanceof Error ? printableStack(text) : printable(text)}`
      })
    write(`${time.slice(11, 19)} ${level.padEnd(5)} ${event}${rest.join('')}\n`)
  }
}
