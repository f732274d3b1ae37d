// Ports of 127.0.0.1.

import { createServer, type Server } from 'node:net'
import { StartError } from './start-error.ts'
import { until } from './until.ts'

export const LOOPBACK = '127.0.0.1'

export const loopbackUrl = (port: number): string => `http://${LOOPBACK}:${port}`

export type Claim = { ok: true; port: number } | { ok: false; code: string }

/**
 * Whether a port can be listened on; 0: finds one that can. It is free again when this resolves, so
 * somebody else may still take it.
 */
export async function findPort(wanted: number): Promise<Claim> {
  const [claim = { ok: false, code: 'unknown' }] = await findPorts([wanted])
  return claim
}

/** The same for several, which are all held until the last is found: no two are the same. */
export async function findPorts(wanted: readonly number[]): Promise<Claim[]> {
  const held = await Promise.all(wanted.map(hold))
  await Promise.all(held.map(({ server }) => server && release(server)))
  return held.map(({ claim }) => claim)
}

function hold(wanted: number): Promise<{ claim: Claim; server?: Server }> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', (error: NodeJS.ErrnoException) => {
      resolve({ claim: { ok: false, code: error.code ?? 'unknown' } })
    })
    server.listen({ host: LOOPBACK, port: wanted }, () => {
      const address = server.address()
      const port = typeof address === 'object' && address !== null ? address.port : wanted
      resolve({ claim: { ok: true, port }, server })
    })
  })
}

/** What a run that was killed leaves behind has ended by itself after this. */
const INHERITED_WAIT_MS = 5_000

export interface WantedPorts {
  /** 0: any free port. */
  port: number
  /** How many other free ports are needed. */
  others: number
  /** The run before was killed, and what it left may still listen there. */
  inherited: boolean
  signal: AbortSignal
}

/** The port that a system will listen on, then the others. Throws StartError. */
export async function claimPorts(plan: WantedPorts): Promise<number[]> {
  const { port, others, inherited, signal } = plan
  const find = () => findPorts([port, ...Array.from({ length: others }, () => 0)])
  let claims = await find()
  const isFree = () => claims.every(({ ok }) => ok)
  if (!isFree() && inherited) {
    const patience = { what: 'The port', waitMs: INHERITED_WAIT_MS, signal }
    await until(async () => {
      claims = await find()
      return isFree()
    }, patience).catch(() => signal.throwIfAborted())
  }
  return claims.map((claim) => {
    if (claim.ok) return claim.port
    throw portRefused(LOOPBACK, port, claim.code)
  })
}

/** `code`: of the system's error. */
export function portRefused(host: string, port: number, code: string): StartError {
  const why = code === 'EADDRINUSE' ? 'is taken' : `cannot be used (${code})`
  return new StartError('port_taken', `Port ${port} of ${host} ${why}; choose another with --port.`)
}

const release = (server: Server): Promise<void> =>
  new Promise((resolve) => server.close(() => resolve()))
