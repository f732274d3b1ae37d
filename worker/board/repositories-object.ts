// Repositories in Durable Objects, one object a path. The streams of this isolate share one socket
// to each of them.

import type { Clock } from '../shared/clock.ts'
import type { Log } from '../shared/log.ts'
import type { From } from './fan-out.ts'
import type { Query, ReadAnswer } from './reads.ts'
import type { PublishOutcome, Repositories, RepositoryHandle } from './repositories.ts'
import {
  type Connection,
  type ConnectionSink,
  SharedSubscription,
  type Upstream,
} from './shared-subscription.ts'
import type { StreamRoom } from './stream-room.ts'
import type { ChangesAnswer, ChangesRequest, SyncAnswer, SyncRequest } from './wire.ts'

/** What this file needs of the binding: the object's public methods, as they look over RPC. */
export interface RepositoryNamespace {
  getByName(path: string): {
    sync(request: SyncRequest): Promise<PublishOutcome<SyncAnswer>>
    changes(request: ChangesRequest): Promise<PublishOutcome<ChangesAnswer>>
    read(query: Query, ifNoneMatch: string | undefined): Promise<ReadAnswer>
    spend(id: string, expiresAt: number): Promise<boolean>
    missed(from: From): Promise<string[]>
    fetch(url: string, init: RequestInit): Promise<Response>
  }
}

export interface ObjectHost {
  namespace: RepositoryNamespace
  room: StreamRoom
  clock: Clock
  log: Log
}

export function objectRepositories({ namespace, ...host }: ObjectHost): Repositories {
  const subscriptions = new Map<string, SharedSubscription>()
  return {
    open(path) {
      // A stub breaks for good when its object is reset, so each call gets a fresh one.
      const stub = () => namespace.getByName(path)
      return {
        sync: (request) => stub().sync(request),
        changes: (request) => stub().changes(request),
        read: (query, ifNoneMatch) => stub().read(query, ifNoneMatch),
        spend: (id, expiresAt) => stub().spend(id, expiresAt),
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
              // Streams may be opened for any path, so those without streams must use no memory.
              if (shared.isEmpty && subscriptions.get(path) === shared) subscriptions.delete(path)
            },
          }
        },
      } satisfies RepositoryHandle
    },
  }
}

function objectUpstream(stub: () => ReturnType<RepositoryNamespace['getByName']>): Upstream {
  // The object holds one socket of each isolate: a new one replaces what a leader left behind.
  const isolate = crypto.randomUUID()
  return {
    dial: (from, streams, sink) => dial(stub(), isolate, from, streams, sink),
    missed: (from) => stub().missed(from),
  }
}

async function dial(
  stub: ReturnType<RepositoryNamespace['getByName']>,
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
