// The last step before output: hides the value of every variable with the name of a secret. Pure.

import { hideTokens, isSecretName, REDACTED } from '../../worker/shared/secrets.ts'
import type { Environment } from '../command.ts'
import type { ConfiguredGateway } from './configured.ts'

/** Shorter values occur in ordinary text, and hiding them there would reveal them. */
const MIN_CHARS = 6

/** `gateways`: some of their secrets may be in signalbox.config.ts. */
export function secretValues(
  env: Environment,
  gateways: readonly Pick<ConfiguredGateway, 'settings'>[] = [],
): string[] {
  const values = [env, ...gateways.map(({ settings }): Environment => settings)]
    .flatMap((named) => Object.entries(named))
    .filter(([name]) => isSecretName(name))
    .flatMap(([, value = '']) => value.split(/\s+/))
    .filter((value) => value.length >= MIN_CHARS)
  // The longest first, since one may be the beginning of another.
  return [...new Set(values)].sort((a, b) => b.length - a.length)
}

/** Hides these secrets and everything that looks like a token. */
export const hiding =
  (secrets: readonly string[]) =>
  (text: string): string =>
    secrets.reduce((result, secret) => result.replaceAll(secret, REDACTED), hideTokens(text))
