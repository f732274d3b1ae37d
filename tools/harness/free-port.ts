// Ports for programs that get theirs as an option. They may start seconds later, so the system must
// not give the port to somebody else until then. And one for a server of our own.

import { once } from 'node:events'
import type { AddressInfo, Server } from 'node:net'
import { findPort, LOOPBACK, loopbackUrl } from '../../system/local/ports.ts'

/** Below those that Linux and macOS give to sockets by themselves, from 32768 and 49152. */
const FIRST = 10_000
const SLICE = 100
const SLICES = 220

/** Test processes that run at the same time have near pids, and so slices of their own. */
const start = FIRST + (process.pid % SLICES) * SLICE
let given = 0

/** A port that nothing listens on, another one each time. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < SLICE; tries++) {
    const claim = await findPort(start + (given++ % SLICE))
    if (claim.ok) return claim.port
  }
  throw new Error(`no port from ${start} on is free`)
}

/** Resolves with the URL of a server that listens from now on, on whichever port is free. */
export async function listen(server: Server): Promise<string> {
  server.listen(0, LOOPBACK)
  await once(server, 'listening')
  return loopbackUrl((server.address() as AddressInfo).port)
}
