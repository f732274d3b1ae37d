// The doctor's check of each gateway's secrets: swapped, of the wrong kind, too short, or test keys
// in production. It names variables, never values. No I/O.

import { error, type Finding, ok, warn } from '../findings.ts'
import type { ConfiguredGateway } from './configured.ts'
import { DRIVER_TOOLS } from './drivers/registry.ts'
import { mismatchOf } from './money-mode.ts'

export function checkSecrets(gateway: ConfiguredGateway): Finding[] {
  const { key, driver, missing } = gateway
  if (missing.length > 0) return []
  const found = [
    ...checkQuotes(gateway),
    ...(DRIVER_TOOLS[driver]?.checkSecrets?.(gateway) ?? []),
    ...mismatchOf(gateway).map((sentence) => warn(key, sentence)),
  ]
  if (found.length > 0) return found
  return [ok(key, 'Its secrets are of the right kind and length.')]
}

/** A pasted value or one of an env file may include its quotes. */
function checkQuotes({ key, settings, variables, required }: ConfiguredGateway): Finding[] {
  return required.flatMap((name) => {
    const value = settings[name] ?? ''
    const variable = variables[name] ?? name
    if (/^(["'`]).*\1$/.test(value)) {
      return error(key, `${variable} has quotes around it, which would be part of the value.`)
    }
    if (/^(<.*>|\.+|…|x{3,}|changeme|change-me|todo|your[-_ ].*)$/i.test(value)) {
      return error(key, `${variable} is a placeholder.`)
    }
    return []
  })
}
