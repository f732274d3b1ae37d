// Structured logs, one JSON line an event. Secrets never get as far as the line.

export type Level = 'debug' | 'info' | 'warn' | 'error'
export type Fields = Record<string, unknown>
export type Log = (level: Level, event: string, fields: Fields) => void

const SECRET = /authorization|cookie|token|secret|key|signature|pin$|card|msisdn|ticket/i

/** Writes every event but debug to the console, where the platform's observability takes it up. */
export const consoleLog: Log = (level, event, fields) => {
  if (level === 'debug') return
  const line = JSON.stringify({ level, event, ...redact(fields) })
  if (level === 'error') console.error(line)
  else if (level === 'warn') console.warn(line)
  else console.log(line)
}

/** The same fields with the values of those that are named like a secret left out. */
export function redact(fields: Fields): Fields {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => {
      if (SECRET.test(name)) return [name, '[redacted]']
      const nested = typeof value === 'object' && value !== null && !Array.isArray(value)
      return [name, nested ? redact(value as Fields) : value]
    }),
  )
}
