// A server of node:http on its port. For Node and Deno.

import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Listening {
  address: AddressInfo
  /** Cuts off what is under way. */
  close(): Promise<void>
}

/** `port` 0: any free port. Rejects as Node does when the port is taken. */
export async function listen(
  server: Server,
  { hostname = '127.0.0.1', port }: { hostname?: string; port: number },
): Promise<Listening> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, hostname, resolve)
  })
  return {
    address: server.address() as AddressInfo,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
