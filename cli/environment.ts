// The variables of the environment, or of the file of --env in its place.

import { parseEnv } from 'node:util'
import { STOP_WITHIN_MS } from '../worker/shared/clock.ts'
import { readPrivate, withSecretFiles } from '../worker/shared/secret-files-node.ts'
import type { Environment } from './context.ts'
import { UsageError } from './usage.ts'

/** From the first signal until the process is gone, whatever hangs. In ms. Throws UsageError. */
export function stopWithinMs({ SIGNALBOX_STOP_TIMEOUT: text }: Environment): number {
  if (!text) return STOP_WITHIN_MS
  const [, seconds] = /^([1-9]\d{0,3})s$/.exec(text) ?? []
  if (seconds !== undefined) return Number(seconds) * 1_000
  throw new UsageError(`SIGNALBOX_STOP_TIMEOUT must be a time like 10s or 40s, not "${text}".`)
}

/**
 * The variables of the file of --env, else of the environment, with the secrets that are in files.
 * `prefixes`: of the variables of gateways. Throws SecretFileError.
 */
export const variablesIn = async (
  file: string | undefined,
  env: Environment,
  prefixes: readonly string[] = [],
): Promise<Environment> =>
  await withSecretFiles(file === undefined ? env : await readEnvFile(file), prefixes)

/** The variables in the file of --env. Throws SecretFileError. */
export const readEnvFile = async (file: string): Promise<Environment> =>
  parseEnv(await readPrivate('--env', file))
