// A fetch handler on a free port of this machine, for gateways, shops and edges of tests.

import { serveNode } from '../../worker/serve-node.ts'

export type Handler = (request: Request) => Response | Promise<Response>

export interface TestServer {
  url: string
  /** Cuts off what is under way. */
  close(): Promise<void>
}

export async function serve(handle: Handler): Promise<TestServer> {
  const { url, close } = await serveNode(handle, { hostname: '127.0.0.1', port: 0, silenceMs: 0 })
  return { url, close: () => close(0) }
}
