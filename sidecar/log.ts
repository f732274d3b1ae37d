// Structured logs: one JSON object a line, or the same for people. Nothing secret leaves here,
// whatever the caller passes.

const LEVELS = ['debug', 'info', 'warn', 'error'] as const
export type Level = (typeof LEVELS)[number]
export type Fields = Record<string, unknown>
export type Log = (level: Level, event: string, fields?: Fields) => void
export type LogFormat = 'json' | 'pretty'

const SECRET_WORDS = new Set(
  'authorization cookie token secret key signature pin card msisdn password'.split(' '),
)
const SECRET_VALUES = /\bBearer\s+\S+|\beyJ[\w-]+\.[\w-]+\.[\w-]*/g

/** Whole words only: `mapping` holds `pin` and is no secret. */
const isSecretName = (name: string): boolean =>
  name
    .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z]+/)
    .some((word) => SECRET_WORDS.has(word) || SECRET_WORDS.has(word.replace(/s$/, '')))

export const redactText = (text: string): string => text.replaceAll(SECRET_VALUES, '[redacted]')

function redact(value: unknown): unknown {
  if (typeof value === 'string') return redactText(value)
  if (value instanceof Error) return redactText(value.stack ?? value.message)
  if (Array.isArray(value)) return value.map(redact)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      name,
      isSecretName(name) ? '[redacted]' : redact(inner),
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
