// Structured logs: one line of JSON per event. Values whose name is a secret's, and tokens inside
// texts, are redacted at every depth.

import { hideTokens, isSecretName, REDACTED } from './secrets.ts'

export type Level = 'debug' | 'info' | 'warn' | 'error'
export type Fields = Record<string, unknown>
export type Log = (level: Level, event: string, fields: Fields) => void

/** Writes every event except debug to the console, where the platform collects it. */
export const consoleLog: Log = (level, event, fields) => {
  if (level === 'debug') return
  const line = JSON.stringify({ level, event, ...fields }, redact)
  if (level === 'error') console.error(line)
  else if (level === 'warn') console.warn(line)
  else console.log(line)
}

function redact(name: string, value: unknown): unknown {
  if (isSecretName(name)) return REDACTED
  return typeof value === 'string' ? hideTokens(value) : value
}
