// Structured logs: one JSON object a line, or the same for people. Nothing secret leaves here,
// whatever the caller passes.

import { hideTokens, isSecretName, REDACTED } from '../worker/shared/secrets.ts'

const LEVELS = ['debug', 'info', 'warn', 'error'] as const
export type Level = (typeof LEVELS)[number]
export type Fields = Record<string, unknown>
export type Log = (level: Level, event: string, fields?: Fields) => void
export type LogFormat = 'json' | 'pretty'

/** What was thrown, in words. Anything can be thrown, and a rejection may come from any package. */
export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  // An AggregateError (every address refused) has an empty message and the truth in its code.
  return error.message || ('code' in error ? String(error.code) : error.name)
}

function redact(value: unknown): unknown {
  if (typeof value === 'string') return hideTokens(value)
  if (value instanceof Error) return hideTokens(value.stack ?? value.message)
  if (Array.isArray(value)) return value.map(redact)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      name,
      isSecretName(name) ? REDACTED : redact(inner),
    ]),
  )
}

export function createLog(
  format: LogFormat,
  write: (line: string) => void,
  least: Level = 'info',
  now: () => number = Date.now,
): Log {
  return (level, event, fields = {}) => {
    if (LEVELS.indexOf(level) < LEVELS.indexOf(least)) return
    const safe = redact(fields) as Fields
    const time = new Date(now()).toISOString()
    if (format === 'json') {
      write(`${JSON.stringify({ time, level, event, ...safe })}\n`)
      return
    }
    const rest = Object.entries(safe)
      .filter(([, value]) => value !== undefined)
      .map(
        ([name, value]) => ` ${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
      )
    write(`${time.slice(11, 19)} ${level.padEnd(5)} ${event}${rest.join('')}\n`)
  }
}
