// The last step before a terminal: no value of a variable that is named like a secret passes,
// whoever wrote the sentence. Pure.

import { hideTokens, isSecretName, REDACTED } from '../../worker/shared/secrets.ts'
import type { Environment } from '../settings.ts'
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

/** Hides the secrets, and whatever looks like a token. */
export const hiding =
  (secrets: readonly string[]) =>
  (text: string): string =>
    secrets.reduce((told, secret) => told.replaceAll(secret, REDACTED), hideTokens(text))
