// A running `npm start`, as its data folder tells of it. Reads, and makes nothing.

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as z from 'zod'
import { edgeVariables } from '../../local/edge-variables.ts'
import type { Environment } from '../../local/environment.ts'
import { describeGateways, type LocalGateways } from '../../local/gateways.ts'
import type { Surroundings } from './command.ts'
import { UsageError } from './flags.ts'

export interface RunningSystem {
  /** Of the edge. */
  url: string
  /** Of the scopes payments:read and payments:write. */
  token: string
  /** As its Worker has them. */
  variables: Environment
  /** Gateways that it has other variables of than `env` would give it. */
  differing: string[]
}

const localJson = z.object({
  url: z.string(),
  path: z.string(),
  database: z.string(),
  databaseToken: z.string(),
  simulator: z.string(),
  tokens: z.object({ payments: z.string() }),
  gateways: z.object({
    redirect: z.object({ api_key: z.string() }).exactOptional(),
    fib: z.object({ client_id: z.string() }).exactOptional(),
    stripe: z.object({ webhook_secret: z.string() }).exactOptional(),
  }),
})

/** Where a browser finds it, and what signs it in. Throws UsageError when none runs there. */
export async function readPlaceOf(
  dir: string,
): Promise<{ url: string; path: string; secret: string }> {
  const { url, path } = await readLocal(dir)
  return { url, path, secret: await readSecret(dir) }
}

/** With what the system would be started here. Throws UsageError when none runs there. */
export async function readRunningSystem(
  dir: string,
  { env, file }: Surroundings,
): Promise<RunningSystem> {
  const { url: edge, database, databaseToken, simulator, tokens, gateways } = await readLocal(dir)
  const secret = await readSecret(dir)
  const places = { edge, database, simulator }
  const here = edgeVariables(env, file, { secret, ...places, databaseToken })
  const expected: Readonly<Record<string, unknown>> = { ...describeGateways(here) }
  const actual: Readonly<Record<string, unknown>> = { ...gateways }
  const names = new Set([...Object.keys(expected), ...Object.keys(actual)])
  const differing = [...names].filter(
    (name) => JSON.stringify(expected[name]) !== JSON.stringify(actual[name]),
  )
  // What it was started with counts, not what this shell holds.
  const variables = { ...here, ...variablesOf(gateways, differing) }
  return { url: edge, token: tokens.payments, variables, differing }
}

function variablesOf(
  { redirect, fib, stripe }: LocalGateways,
  differing: readonly string[],
): Record<string, string> {
  const isOther = (name: string) => differing.includes(name)
  return {
    ...(redirect && isOther('redirect') && { REDIRECT_GATEWAY_API_KEY: redirect.api_key }),
    ...(fib && isOther('fib') && { FIB_CLIENT_ID: fib.client_id }),
    ...(stripe && isOther('stripe') && { STRIPE_WEBHOOK_SECRET: stripe.webhook_secret }),
  }
}

async function readLocal(dir: string): Promise<z.infer<typeof localJson>> {
  const text = await read(dir, 'local.json')
  try {
    return localJson.parse(JSON.parse(text))
  } catch {
    // The parser would quote what it read, and that is tokens.
    throw new UsageError(`${join(dir, 'local.json')} is of another version of signalbox.`)
  }
}

const readSecret = async (dir: string): Promise<string> => (await read(dir, 'secret')).trim()

async function read(dir: string, name: string): Promise<string> {
  const file = join(dir, name)
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unreadable'
    throw new UsageError(`No system runs with the data folder ${dir} (${name}: ${code}).`)
  }
}
