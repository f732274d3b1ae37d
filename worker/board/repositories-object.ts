// Repositories in Durable Objects, one object a path.

import type { Query } from './reads.ts'
import type {
  FrameSink,
  PublishOutcome,
  ReadAnswer,
  Repositories,
  RepositoryHandle,
  StreamRoom,
  Subscribed,
  Subscription,
} from './repositories.ts'
import type { ChangesAnswer, ChangesRequest, SyncAnswer, SyncRequest } from './wire.ts'

/** What this file needs of the binding: the object's public methods, as they look over RPC. */
export interface RepositoryNamespace {
  getByName(path: string): {
    sync(request: SyncRequest): Promise<PublishOutcome<SyncAnswer>>
    changes(request: ChangesRequest): Promise<PublishOutcome<ChangesAnswer>>
    read(query: Query, ifNoneMatch: string | undefined): Promise<ReadAnswer>
    spend(id: string, expiresAt: number): Promise<boolean>
    fetch(url: string, init: RequestInit): Promise<Response>
  }
}

export function objectRepositories(namespace: RepositoryNamespace, room: StreamRoom): Repositories {
  return {
    open(path) {
      // A stub breaks for good when its object is reset, so each call gets a fresh one.
      const stub = () => namespace.getByName(path)
      return {
        sync: (request) => stub().sync(request),
        changes: (request) => stub().changes(request),
        read: (query, ifNoneMatch) => stub().read(query, ifNoneMatch),
        spend: (id, expiresAt) => stub().spend(id, expiresAt),
        subscribe: (from, sink) => dial(stub(), room, from, sink),
      } satisfies RepositoryHandle
    },
  }
}

async function dial(
  stub: ReturnType<RepositoryNamespace['getByName']>,
  { all, each }: StreamRoom,
  from: Subscription,
  sink: FrameSink,
): Promise<Subscribed> {
  const query = new URLSearchParams({
    since: String(from.since),
    holder: from.holder,
    all: String(all),
    each: String(each),
  })
  if (from.lastEventId !== undefined) query.set('last', from.lastEventId)
  const response = await stub.fetch(`https://repository/stream?${query}`, {
    headers: { Upgrade: 'websocket' },
  })
  if (response.status === 503) return { ok: false, reason: 'full' }
  const socket = response.webSocket
  if (!socket) throw new Error(`the repository answered ${response.status} to a subscription`)

  let over = false
  const end = () => {
    if (over) return
    over = true
    sink.closed()
  }
  socket.addEventListener('message', ({ data }) => {
    if (!over && data instanceof ArrayBuffer) sink.frame(new Uint8Array(data))
  })
  socket.addEventListener('close', end)
  socket.addEventListener('error', end)
  socket.binaryType = 'arraybuffer'
  socket.accept()
  return {
    ok: true,
    close() {
      over = true
      socket.close(1000)
    },
  }
}
