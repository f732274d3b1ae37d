// Ports of 127.0.0.1. A data folder keeps those of its edge and its simulator.

import { createServer, type Server } from 'node:net'
import { join } from 'node:path'
import * as z from 'zod'
import { errorCode } from '../../worker/shared/file-errors.ts'
import { jsonIn } from '../../worker/shared/json.ts'
import { textIn } from '../../worker/shared/plain-file-node.ts'
import { replacePrivateFile } from '../../worker/shared/private-file-node.ts'
import type { DataFolder } from '../data/data-folder.ts'
import { StartError } from '../start-error.ts'
import { until } from '../until.ts'

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

/**
 * The same for several, which are all held until the last is found: no two are the same.
 * @forTests A start asks for few, a test for many.
 */
export async function findPorts(wanted: readonly number[]): Promise<Claim[]> {
  const held = await Promise.all(wanted.map(hold))
  await Promise.all(held.map(({ server }) => server && release(server)))
  return held.map(({ claim }) => claim)
}

function hold(wanted: number): Promise<{ claim: Claim; server?: Server }> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', (error) => {
      resolve({ claim: { ok: false, code: errorCode(error) || 'unknown' } })
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
/** The edge's, in a data folder that had none. */
const FIRST_PORT = 8_787

export interface PortPlan {
  data: Pick<DataFolder, 'dir' | 'inherited'>
  /** The edge's; 0: any free one. Undefined: the last one, or any where that is taken. */
  port: number | undefined
  /** Prints one sentence for the person at the terminal. */
  notice(sentence: string): void
  signal: AbortSignal
}

/**
 * Free ports, of the edge and the simulator those of the last run: open tabs are signed in at the
 * one, and charges that can still be paid have their pages at the other. Throws StartError.
 */
export async function claimPorts({ data, port, notice, signal }: PortPlan) {
  const file = join(data.dir, 'ports.json')
  const last = await readPorts(file)
  const wanted = [port ?? last.edge ?? FIRST_PORT, last.simulator ?? 0, 0]
  let claims = await findPorts(wanted)
  const isFree = () => claims.every(({ ok }) => ok)
  if (!isFree() && data.inherited) {
    const patience = { what: 'The port', waitMs: INHERITED_WAIT_MS, signal }
    await until(async () => {
      claims = await findPorts(wanted)
      return isFree()
    }, patience).catch(() => signal.throwIfAborted())
  }
  const [ofEdge, ofSimulator] = claims
  if (port !== undefined && ofEdge?.ok === false) throw portRefused(LOOPBACK, port, ofEdge.code)
  if (ofEdge?.ok === false) notice(`Port ${wanted[0]} is taken, so another one is used.`)
  if (ofSimulator?.ok === false) {
    const harm = 'pages of open charges do not open any more'
    notice(`Port ${wanted[1]} of the simulator is taken, so another one is used: ${harm}.`)
  }
  if (!isFree()) claims = await findPorts(wanted.map((it, at) => (claims[at]?.ok ? it : 0)))
  const [edge = 0, simulator = 0, database = 0] = claims.map((claim, at) => {
    if (claim.ok) return claim.port
    throw portRefused(LOOPBACK, wanted[at] ?? 0, claim.code)
  })
  await replacePrivateFile(file, JSON.stringify({ edge, simulator }))
  return { edge, simulator, database }
}

const PORT = z.int().min(1).max(65_535).optional()
const PORTS = z.object({ edge: PORT, simulator: PORT })

/** Without any in a new data folder, and where the file holds something else. */
const readPorts = async (file: string): Promise<z.infer<typeof PORTS>> =>
  PORTS.safeParse(jsonIn(await textIn(file))).data ?? {}

/** `code`: of the system's error. `setting` chooses the port. */
export function portRefused(
  host: string,
  port: number,
  code: string,
  setting = '--port',
): StartError {
  const isTaken = code === 'EADDRINUSE'
  const why = isTaken ? 'is taken' : `cannot be used (${code})`
  const sentence = `Port ${port} of ${host} ${why}; choose another with ${setting}.`
  return new StartError(isTaken ? 'port_taken' : 'bad_configuration', sentence)
}

const release = (server: Server): Promise<void> =>
  new Promise((resolve) => server.close(() => resolve()))
