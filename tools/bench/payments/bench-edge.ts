// An edge as its host starts it: ours on workerd or in one process of Node, or the Worker that
// stores nothing.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { SignJWT } from 'jose'
import { databaseIn } from '../../../system/data-folder.ts'
import { loopbackUrl } from '../../../system/ports.ts'
import { fileOf } from '../../../worker/payments/ledger/libsql/embedded-libsql.ts'
import { freePort } from '../../harness/free-port.ts'
import { prepareNode } from '../../harness/hosts.ts'
import type { PrepareEdge } from '../../start/edge-plan.ts'
import { prepareWorkerd, readWorkerSettings } from '../../start/workerd.ts'
import { type Program, startProgram } from '../child.ts'
import { API_KEY } from './callbacks.ts'
import { ACCESS } from './database.ts'

const HOME = resolve(import.meta.dirname, '../../..')
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

interface OurEdge {
  databaseUrl: string
  gatewayUrl?: string
  home?: string
}

/** `gatewayUrl`: where charges go; the callbacks alone need none. `home`: of another shop. */
export function startOurEdge(
  dir: string,
  { databaseUrl, gatewayUrl, home = HOME }: OurEdge,
): Promise<BenchEdge> {
  const database = { LIBSQL_URL: databaseUrl, LIBSQL_AUTH_TOKEN: ACCESS.token }
  return startEdge(prepareWorkerd, dir, home, { ...ourVariables(gatewayUrl), ...database })
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

/** Another Worker, with the runtime's settings of our edge, so that only the work differs. */
export function startOtherWorker(
  file: string,
  dir: string,
  { variables = {}, objectClass }: { variables?: Record<string, string>; objectClass?: string },
): Promise<BenchEdge> {
  const home = join(dir, 'home')
  mkdirSync(home, { recursive: true })
  const toml = readFileSync(join(HOME, 'wrangler.toml'), 'utf8')
  const { compatibility_date, compatibility_flags } = readWorkerSettings(toml)
  const settings = { main: relative(home, file), compatibility_date, compatibility_flags }
  const lines = Object.entries(settings).map(
    ([name, value]) => `${name} = ${JSON.stringify(value)}`,
  )
  const object = `name = "TOPIC"\nclass_name = "${objectClass}"`
  if (objectClass !== undefined) lines.push('[[durable_objects.bindings]]', object)
  writeFileSync(join(home, 'wrangler.toml'), `${lines.join('\n')}\n`)
  return startEdge(prepareWorkerd, dir, home, variables)
}

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
