// Repositories in this process: for hosts without Durable Objects (Deno, Node).

import { answer } from './answer.ts'
import { type OpenRepository, openRepository } from './open-repository-sqlite.ts'
import type { FrameSink, PublishOutcome, Repositories, RepositoryHandle } from './repositories.ts'
import type { Published } from './repository.ts'
import type { Sql } from './sql.ts'

export interface ProcessHost {
  /**
   * Opens the database of one repository, at most once a path. Undefined: there is none, and `make`
   * is false, so that a question about any name at all leaves none behind.
   */
  openSql(path: string, make: boolean): Sql | undefined
  /** Time in ms. */
  now(): number
  /** Streams that one repository holds at most. */
  maxStreams: number
}

interface Room extends OpenRepository {
  sinks: Set<FrameSink>
  awakeSince: string
}

export function processRepositories(host: ProcessHost): Repositories {
  const rooms = new Map<string, Room>()
  const find = (path: string, make: boolean): Room | undefined => {
    const known = rooms.get(path)
    if (known) return known
    const sql = host.openSql(path, make)
    if (!sql) return undefined
    const awakeSince = new Date(host.now()).toISOString()
    const room = { ...openRepository(sql), sinks: new Set<FrameSink>(), awakeSince }
    rooms.set(path, room)
    return room
  }
  const make = (path: string): Room => {
    const room = find(path, true)
    if (!room) throw new Error('the host made no database')
    return room
  }
  return {
    open: (path) =>
      handle(
        host,
        () => make(path),
        () => find(path, false),
      ),
  }
}

function handle(
  host: ProcessHost,
  make: () => Room,
  find: () => Room | undefined,
): RepositoryHandle {
  const encoder = new TextEncoder()

  const tell = <Answer>(room: Room, published: Published<Answer>): PublishOutcome<Answer> => {
    if (!published.ok) return published
    for (const frame of published.frames) {
      const bytes = encoder.encode(frame)
      for (const sink of room.sinks) sink.frame(bytes)
    }
    return { ok: true, answer: published.answer }
  }

  return {
    async sync(request) {
      const room = make()
      return tell(room, room.repository.sync(request, host.now()))
    },
    async changes(request) {
      const room = make()
      return tell(room, room.repository.changes(request, host.now()))
    },
    async read(query, ifNoneMatch) {
      const room = find()
      if (!room) return { state: 'unpublished' }
      const { reads, sinks, awakeSince } = room
      return answer(reads.find(query, { streams: sinks.size, awakeSince }), ifNoneMatch)
    },
    async spend(id, expiresAt) {
      return make().spentIds.spend(id, expiresAt, host.now())
    },
    async subscribe(from, sink) {
      const { repository, sinks } = make()
      if (sinks.size >= host.maxStreams) return { ok: false, reason: 'full' }
      for (const frame of repository.replay(from)) sink.frame(encoder.encode(frame))
      sinks.add(sink)
      return { ok: true, close: () => sinks.delete(sink) }
    },
  } satisfies RepositoryHandle
}
