// Structured logs, one JSON line an event. What is named like a secret, or looks like a token, is
// left out of the line wherever it stands.

export type Level = 'debug' | 'info' | 'warn' | 'error'
export type Fields = Record<string, unknown>
export type Log = (level: Level, event: string, fields: Fields) => void

const SECRET_NAME = /authorization|cookie|token|secret|key|signature|\bpin$|card|msisdn|ticket/i
// A JWT, or whatever follows "Bearer": both come along in the messages of other people's errors.
const SECRET_TEXT = /\beyJ[\w-]+\.[\w-]+\.[\w-]*|(?<=\bBearer )\S+/gi

/** Writes every event but debug to the console, where the platform's observability takes it up. */
export const consoleLog: Log = (level, event, fields) => {
  if (level === 'debug') return
  const line = JSON.stringify({ level, event, ...fields }, redact)
  if (level === 'error') console.error(line)
  else if (level === 'warn') console.warn(line)
  else console.log(line)
}

function redact(name: string, value: unknown): unknown {
  if (SECRET_NAME.test(name)) return '[redacted]'
  return typeof value === 'string' ? value.replace(SECRET_TEXT, '[redacted]') : value
}
