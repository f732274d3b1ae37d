// Structured logs: one line of JSON per event, with its time. Values whose name is a secret's, and
// tokens inside texts, are redacted at every depth.

import type { Clock } from './clock.ts'
import { jsonText } from './printable.ts'
import { hideTokens, isSecretName, REDACTED } from './secrets.ts'

export type Level = 'debug' | 'info' | 'warn' | 'error'
export type Fields = Record<string, unknown>
export type Log = (level: Level, event: string, fields: Fields) => void

/** Writes every event except debug, as one line without its end. @forTests A log in a file. */
export const lineLog =
  (write: (line: string, level: Level) => void): Log =>
  (level, event, fields) => {
    if (level === 'debug') return
    const time = new Date().toISOString()
    write(jsonText({ time, level, event, ...fields }, redact), level)
  }

/** To the console, where the platform collects it. */
export const consoleLog: Log = lineLog((line, level) => {
  if (level === 'error') console.error(line)
  else if (level === 'warn') console.warn(line)
  else console.log(line)
})

/** A replacer for JSON.stringify. JSON has nothing of an Error, so its stack is taken. */
export function redact(name: string, value: unknown): unknown {
  if (isSecretName(name)) return REDACTED
  if (value instanceof Error) return hideTokens(value.stack ?? value.message)
  return typeof value === 'string' ? hideTokens(value) : value
}

const RARE_MS = 60_000

/**
 * A log for what strangers can cause as often as they like: each event has a line at most once a
 * minute, with how many there were since the last one.
 */
export function rareLog(log: Log, { elapsed }: Pick<Clock, 'elapsed'>): Log {
  const last = new Map<string, { at: number; count: number }>()
  return (level, event, fields) => {
    const known = last.get(event)
    const count = (known?.count ?? 0) + 1
    if (known && elapsed() - known.at < RARE_MS) {
      known.count = count
      return
    }
    last.set(event, { at: elapsed(), count: 0 })
    log(level, event, { ...fields, count })
  }
}

const MAX_REASON_CHARS = 500

/**
 * Why something failed, in a line that can be logged and stored. Its cause is named too: it says
 * more than "fetch failed" does. `hide` gets the whole text: in a part of it an address may be cut.
 */
export function reasonOf(error: unknown, hide = (text: string) => text): string {
  const cause = error instanceof Error && error.cause !== undefined ? `: ${error.cause}` : ''
  return hideTokens(hide(`${error}${cause}`)).slice(0, MAX_REASON_CHARS)
}
