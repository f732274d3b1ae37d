// Repositories in Durable Objects, one object a path, as a Worker reaches them. The streams of an
// isolate share one socket to the object.

import type { Clock } from '../../shared/clock.ts'
import { freshStub } from '../../shared/durable-object.ts'
import type { Log } from '../../shared/log.ts'
import type { From } from '../streams/fan-out.ts'
import {
  type Connection,
  type ConnectionSink,
  SharedSubscription,
  type Upstream,
} from '../streams/shared-subscription.ts'
import type { StreamRoom } from '../streams/stream-room.ts'
import type { Repositories, RepositoryHandle } from './repositories.ts'
import { CALLS, type RepositoryCalls } from './repository-calls.ts'
import type { RepositoryObject } from './repository-object.ts'

export interface ObjectHost {
  namespace: DurableObjectNamespace<RepositoryObject>
  room: StreamRoom
  clock: Clock
  log: Log
}

export function objectRepositories({ namespace, ...host }: ObjectHost): Repositories {
  const subscriptions = new Map<string, SharedSubscription>()
  return {
    open(path) {
      const stub = freshStub(namespace, path)
      const passOn = (name: string) => [
        name,
        (...args: unknown[]) => stub().call(name as keyof RepositoryCalls, args),
      ]
      const calls: RepositoryCalls = Object.fromEntries(Object.keys(CALLS).map(passOn))
      return {
        ...calls,
        async attach(run) {
          const headers = { Upgrade: 'websocket' }
          const answer = await stub().fetch(`https://repository/sidecar?run=${run}`, { headers })
          if (answer.status === 101) return answer
          return answer.status === 429 ? 'too_many_sidecars' : 'sync_required'
        },
        subscribe(from, sink) {
          const shared =
            subscriptions.get(path) ??
            new SharedSubscription({ upstream: objectUpstream(stub), ...host })
          subscriptions.set(path, shared)
          const { onPing, close } = shared.subscribe(from, sink)
          return {
            onPing,
            close() {
              close()
              if (shared.isEmpty && subscriptions.get(path) === shared) subscriptions.delete(path)
            },
          }
        },
      } satisfies RepositoryHandle
    },
  }
}

function objectUpstream(stub: () => DurableObjectStub<RepositoryObject>): Upstream {
  // The object holds one socket of each isolate: a new one replaces what a leader left behind.
  const isolate = crypto.randomUUID()
  return {
    dial: (from, streams, sink) => dial(stub(), isolate, from, streams, sink),
    missed: (from) => stub().missed(from),
  }
}

async function dial(
  stub: DurableObjectStub<RepositoryObject>,
  isolate: string,
  { lastEventId, since }: From,
  streams: number,
  sink: ConnectionSink,
): Promise<Connection> {
  const query = new URLSearchParams({
    isolate,
    since: String(since),
    streams: String(streams),
  })
  if (lastEventId !== undefined) query.set('last', lastEventId)
  const response = await stub.fetch(`https://repository/stream?${query}`, {
    headers: { Upgrade: 'websocket' },
  })
  const socket = response.webSocket
  if (!socket) throw new Error(`the repository answered ${response.status} to a subscription`)

  let isOver = false
  const end = () => {
    if (isOver) return
    isOver = true
    sink.closed()
  }
  socket.addEventListener('message', ({ data }) => {
    if (isOver) return
    if (data instanceof ArrayBuffer) sink.block(new Uint8Array(data))
    else if (typeof data === 'string') sink.others(Number(data))
  })
  socket.addEventListener('close', end)
  socket.addEventListener('error', end)
  socket.binaryType = 'arraybuffer'
  socket.accept()
  return {
    report(count) {
      if (!isOver) socket.send(String(count))
    },
    close() {
      isOver = true
      socket.close(1000)
    },
  }
}
