// The programs that are measured, or that take part: a program of Node, and an edge as its host
// starts it. They end with us, whatever ends us.

import { mkdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { SignJWT } from 'jose'
import { loopbackUrl } from '../../system/local/ports.ts'
import { until, type Wait } from '../../system/until.ts'
import type { PaymentsDatabase } from '../harness/database.ts'
import { freePort } from '../harness/free-port.ts'
import { Process } from '../harness/process.ts'
import type { PrepareEdge } from '../start/edge-plan.ts'

export const HOME = resolve(import.meta.dirname, '../..')
/** What `signalbox watch` says when the edge has all boards. */
export const BOARDS_READY = /"boards\.ready"/
export const START_WAIT_MS = 150_000
const AUTH_SECRET = 'the-secret-of-the-benchmark-that-signs-access-tokens'
/** Signs the callbacks of the gateway. */
export const API_KEY = 'the-key-of-the-benchmark-that-signs-callbacks'

export interface Started {
  program: Process
  /** Of its output, the one that matched. */
  line: string
}

let started = 0

/** `dir`: for its log. Resolves when a line of output matches. Rejects with its output when none does in time. */
export async function startNode(
  args: readonly string[],
  ready: RegExp,
  { dir, env, ...more }: { dir: string; env?: Readonly<Record<string, string>>; cwd?: string },
): Promise<Started> {
  const logFile = join(dir, `program-${++started}.log`)
  const own = { ...process.env, ...env } as Record<string, string>
  const spec = { name: args.join(' '), command: process.execPath, args, env: own, logFile, ...more }
  const program = new Process({ ...spec, graceMs: 10_000 })
  await program.start()
  try {
    const line = await program.ready((wait) => lineIn(logFile, ready, wait), START_WAIT_MS)
    return { program, line }
  } catch (cause) {
    throw new Error(readFileSync(logFile, 'utf8').slice(-2_000), { cause })
  }
}

/** The first line of a file that matches, once it is whole. */
export async function lineIn(file: string, pattern: RegExp, wait: Wait): Promise<string> {
  let line: string | undefined
  await until(() => {
    const whole = readFileSync(file, 'utf8').split('\n').slice(0, -1)
    line = whole.find((it) => pattern.test(it))
    return line !== undefined
  }, wait)
  return line ?? ''
}

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

export interface BenchEdge extends AsyncDisposable {
  pid: number
  port: number
  url: string
}

export async function startEdge(
  prepare: PrepareEdge,
  dir: string,
  variables: Readonly<Record<string, string>> = {},
): Promise<BenchEdge> {
  // `serve` takes no data folder that others may read.
  mkdirSync(dir, { recursive: true, mode: 0o700 })
  const port = await freePort()
  const url = loopbackUrl(port)
  const spec = await prepare({
    port,
    dir,
    home: HOME,
    variables: { AUTH_SECRETS: AUTH_SECRET, ...variables },
    env: { PATH: process.env.PATH ?? '', HOME: dir },
    logFile: join(dir, 'edge.log'),
  })
  const edge = new Process(spec, url)
  await edge.start()
  return { pid: edge.pid, port, url, [Symbol.asyncDispose]: () => edge.stop() }
}

/** With payments of one gateway. `gatewayUrl`: where charges go; the callbacks alone need none. */
export const startPayments = (
  prepare: PrepareEdge,
  dir: string,
  database: Pick<PaymentsDatabase, 'url' | 'token'>,
  gatewayUrl = 'http://127.0.0.1:9',
): Promise<BenchEdge> =>
  startEdge(prepare, dir, {
    LIBSQL_URL: database.url,
    LIBSQL_AUTH_TOKEN: database.token,
    REDIRECT_GATEWAY_CLIENT_ID: 'bench',
    REDIRECT_GATEWAY_CLIENT_SECRET: 'the-secret-of-the-benchmark-at-the-gateway',
    REDIRECT_GATEWAY_API_KEY: API_KEY,
    REDIRECT_GATEWAY_BASE_URL: gatewayUrl,
    PAYMENT_PUBLIC_URL: 'http://127.0.0.1',
  })
