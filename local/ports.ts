// Ports of 127.0.0.1.

import { createServer } from 'node:net'

export const LOOPBACK = '127.0.0.1'

export type Claim = { ok: true; port: number } | { ok: false; code: string }

/**
 * Whether a port can be listened on; 0: finds one that can. It is free again when this resolves, so
 * somebody else may still take it.
 */
export function findPort(wanted: number): Promise<Claim> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', (error: NodeJS.ErrnoException) => {
      resolve({ ok: false, code: error.code ?? 'unknown' })
    })
    server.listen({ host: LOOPBACK, port: wanted }, () => {
      const address = server.address()
      const port = typeof address === 'object' && address !== null ? address.port : wanted
      server.close(() => resolve({ ok: true, port }))
    })
  })
}
