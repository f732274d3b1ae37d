// Structured logs: one line of JSON per event, with its time, or the same for people. Values whose
// name is a secret's, and tokens inside texts, are redacted at every depth.

import type { Clock } from './clock.ts'
import { errorCode } from './file-errors.ts'
import { jsonText, printable } from './printable.ts'
import { hideTokens, isSecretName, REDACTED } from './secrets.ts'

const LEVELS = ['debug', 'info', 'warn', 'error'] as const
export type Level = (typeof LEVELS)[number]
export type Fields = Record<string, unknown>
export type Log = (level: Level, event: string, fields: Fields) => void
export type LogFormat = 'json' | 'pretty'

/** `write` gets whole lines, with their ends. */
export function createLog(
  format: LogFormat,
  write: (line: string, level: Level) => void,
  least: Level = 'info',
  now: () => number = Date.now,
): Log {
  return (level, event, fields) => {
    if (LEVELS.indexOf(level) < LEVELS.indexOf(least)) return
    const time = new Date(now()).toISOString()
    const line =
      format === 'json'
        ? jsonText({ time, level, event, ...fields }, redact)
        : `${time.slice(11, 19)} ${level.padEnd(5)} ${event}${prettyOf(fields)}`
    write(`${line}\n`, level)
  }
}

function prettyOf(fields: Fields): string {
  const shown = Object.entries(fields).map(([name, value]) => {
    if (value === undefined) return ''
    const given = redact(name, value)
    const text = typeof given === 'string' ? given : JSON.stringify(given, redact)
    return ` ${name}=${value instanceof Error ? printableStack(text) : printable(text)}`
  })
  return shown.join('')
}

/** The lines of a stack are ours, and its message is not. */
export function printableStack(stack: string): string {
  const from = stack.search(/\n {4}at /)
  if (from === -1) return printable(stack)
  const lines = stack.slice(from).split('\n')
  return `${printable(stack.slice(0, from))}${lines.map(printable).join('\n')}`
}

/** To the console, where the platform collects it. */
export const consoleLog: Log = createLog('json', (text, level) => {
  const line = text.slice(0, -1)
  if (level === 'error') console.error(line)
  else if (level === 'warn') console.warn(line)
  else console.log(line)
})

/** A replacer for JSON.stringify. JSON has nothing of an Error, so its stack is taken. */
function redact(name: string, value: unknown): unknown {
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

/** What was thrown, in words. Anything can be thrown, and a rejection may come from any package. */
export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  // An AggregateError (every address refused) has an empty message and the truth in its code.
  return error.message || errorCode(error) || error.name
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
