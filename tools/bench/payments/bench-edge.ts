// An edge as its host starts it: on workerd, or in one process of Node.

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { SignJWT } from 'jose'
import { databaseIn } from '../../../system/data-folder.ts'
import { loopbackUrl } from '../../../system/ports.ts'
import { fileOf } from '../../../worker/payments/ledger/libsql/embedded-libsql.ts'
import { freePort } from '../../harness/free-port.ts'
import { prepareNode } from '../../harness/hosts.ts'
import type { PrepareEdge } from '../../start/edge-plan.ts'
import { prepareWorkerd } from '../../start/workerd.ts'
import { type Program, startProgram } from '../child.ts'
import { HOME } from '../target.ts'
import { API_KEY } from './callbacks.ts'
import { ACCESS } from './database.ts'

export const AUTH_SECRET = 'the-secret-of-the-benchmark-that-signs-access-tokens'

/** Lasts for the longest bench. Absent: no board, and no subject. */
export const tokenFor = (
  scope: string,
  claims: { repos?: readonly string[]; sub?: string } = {},
): Promise<string> =>
  new SignJWT({ scope, repos: [], ...claims })
    .setProtectedHeader({ alg: 'HS256' })
    .setAudience('signalbox')
    .setExpirationTime('1d')
    .sign(new TextEncoder().encode(AUTH_SECRET))

export interface BenchEdge extends Program {
  port: number
  url: string
}

/** `gatewayUrl`: where charges go; the callbacks alone need none. */
export function startOurEdge(
  dir: string,
  { databaseUrl, gatewayUrl }: { databaseUrl: string; gatewayUrl?: string },
): Promise<BenchEdge> {
  const database = { LIBSQL_URL: databaseUrl, LIBSQL_AUTH_TOKEN: ACCESS.token }
  return startEdge(prepareWorkerd, dir, HOME, { ...ourVariables(gatewayUrl), ...database })
}

/** Its payments are in a file. */
export async function startOurNodeEdge(dir: string): Promise<BenchEdge & { file: string }> {
  const edge = await startEdge(prepareNode, dir, HOME, ourVariables())
  return { ...edge, file: fileOf(databaseIn(dir)) }
}

const ourVariables = (gatewayUrl = 'http://127.0.0.1:9') => ({
  AUTH_SECRETS: AUTH_SECRET,
  REDIRECT_GATEWAY_CLIENT_ID: 'bench',
  REDIRECT_GATEWAY_CLIENT_SECRET: 'the-secret-of-the-benchmark-at-the-gateway',
  REDIRECT_GATEWAY_API_KEY: API_KEY,
  REDIRECT_GATEWAY_BASE_URL: gatewayUrl,
  PAYMENT_PUBLIC_URL: 'http://127.0.0.1',
})

/** `home`: the folder of its wrangler.toml. */
export async function startEdge(
  prepare: PrepareEdge,
  dir: string,
  home: string,
  variables: Record<string, string>,
): Promise<BenchEdge> {
  // `serve` takes no data folder that others may read.
  mkdirSync(dir, { recursive: true, mode: 0o700 })
  const port = await freePort()
  const url = loopbackUrl(port)
  const spec = await prepare({
    port,
    dir,
    home,
    variables,
    env: { PATH: process.env.PATH ?? '', HOME: dir },
    logFile: join(dir, 'edge.log'),
  })
  return { ...(await startProgram(spec, url)), port, url }
}
