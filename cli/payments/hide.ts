// The last door before a terminal: no value of a variable that is called like a secret passes it,
// whoever wrote the sentence. Pure.

import type { Environment } from '../../local/environment.ts'
import { hideTokens, isSecretName, REDACTED } from '../../worker/shared/secrets.ts'
import type { Io } from './command.ts'
import type { ConfiguredGateway } from './configured.ts'

/** Shorter ones stand in any sentence, and hidden they would tell what they are. */
const LEAST_CHARS = 6

/** `gateways`: some of their secrets may stand in signalbox.config.ts. */
export function secretValues(
  env: Environment,
  gateways: readonly Pick<ConfiguredGateway, 'settings'>[] = [],
): string[] {
  const values = [env, ...gateways.map(({ settings }): Environment => settings)]
    .flatMap((named) => Object.entries(named))
    .filter(([name]) => isSecretName(name))
    .flatMap(([, value = '']) => value.split(/\s+/))
    .filter((value) => value.length >= LEAST_CHARS)
  // One may be the beginning of another.
  return [...new Set(values)].sort((a, b) => b.length - a.length)
}

export function hidingIo(io: Io, secrets: readonly string[]): Io {
  const hide = (text: string) =>
    secrets.reduce((told, secret) => told.replaceAll(secret, REDACTED), hideTokens(text))
  return { out: (text) => io.out(hide(text)), err: (text) => io.err(hide(text)) }
}
