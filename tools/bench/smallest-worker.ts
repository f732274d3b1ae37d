// The smallest Worker that fans out: an object with hibernating sockets, and streams of an isolate
// that share one of them. It has no resume, no access control and no handover: when the leading
// stream closes, the others get no more messages.

import { DurableObject } from 'cloudflare:workers'

interface Env {
  TOPIC: DurableObjectNamespace<Topic>
}

const encoder = new TextEncoder()
const PING_MS = 15_000

export class Topic extends DurableObject<Env> {
  override async fetch(request: Request): Promise<Response> {
    if (request.method === 'POST') {
      const bytes = encoder.encode(`data: ${await request.text()}\n\n`)
      for (const socket of this.ctx.getWebSockets()) socket.send(bytes)
      return new Response(null, { status: 204 })
    }
    const { 0: client, 1: server } = new WebSocketPair()
    this.ctx.acceptWebSocket(server)
    return new Response(null, { status: 101, webSocket: client })
  }
}

let waiting: ((bytes: Uint8Array) => void)[] = []
let isLed = false

async function lead(topic: DurableObjectStub<Topic>): Promise<void> {
  isLed = true
  const { webSocket } = await topic.fetch('https://topic/', { headers: { Upgrade: 'websocket' } })
  webSocket?.addEventListener('message', ({ data }) => {
    const wake = waiting
    waiting = []
    const bytes = new Uint8Array(data as ArrayBuffer)
    for (const resolve of wake) resolve(bytes)
  })
  if (webSocket) webSocket.binaryType = 'arraybuffer'
  webSocket?.accept()
}

async function forward(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
  for (;;) {
    controller.enqueue(await new Promise<Uint8Array>((resolve) => waiting.push(resolve)))
  }
}

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    const topic = env.TOPIC.getByName('bench')
    if (request.method === 'POST') return await topic.fetch(request)
    if (!request.url.endsWith('/events')) return new Response('ok')
    if (!isLed) await lead(topic)
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(encoder.encode(': connected\n\n'))
        setInterval(() => controller.enqueue(encoder.encode(': ping\n\n')), PING_MS)
        void forward(controller)
      },
    })
    return new Response(body, { headers: { 'Content-Type': 'text/event-stream' } })
  },
}
