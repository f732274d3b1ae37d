// Ports of 127.0.0.1.

import { createServer, type Server } from 'node:net'

export const LOOPBACK = '127.0.0.1'

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

const release = (server: Server): Promise<void> =>
  new Promise((resolve) => server.close(() => resolve()))
