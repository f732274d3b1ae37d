// The smallest Worker that does not share: each stream has a socket of its own to the object.

import type { Topic } from './shared-worker.ts'

export { Topic } from './shared-worker.ts'

interface Env {
  TOPIC: DurableObjectNamespace<Topic>
}

const encoder = new TextEncoder()
const PING_MS = 15_000

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    const topic = env.TOPIC.getByName('bench')
    if (request.method === 'POST') return await topic.fetch(request)
    if (!request.url.endsWith('/events')) return new Response('ok')
    const { webSocket } = await topic.fetch('https://topic/', { headers: { Upgrade: 'websocket' } })
    if (!webSocket) return new Response(null, { status: 503 })
    webSocket.binaryType = 'arraybuffer'
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        webSocket.addEventListener('message', ({ data }) => {
          controller.enqueue(new Uint8Array(data as ArrayBuffer))
        })
        webSocket.accept()
        controller.enqueue(encoder.encode(': connected\n\n'))
        setInterval(() => controller.enqueue(encoder.encode(': ping\n\n')), PING_MS)
      },
    })
    return new Response(body, { headers: { 'Content-Type': 'text/event-stream' } })
  },
}
