// Repositories in this process: for hosts without Durable Objects (Deno, Node).

import { answer } from './answer.ts'
import { openRepository } from './open-repository-sqlite.ts'
import type {
  FrameSink,
  PublishOutcome,
  Repositories,
  RepositoryHandle,
  Subscription,
} from './repositories.ts'
import type { Published } from './repository.ts'
import type { Sql } from './sql.ts'

export interface ProcessHost {
  /** Opens the database of one repository; called once a path. */
  openSql(path: string): Sql
  /** Time in ms. */
  now(): number
  /** Streams that one repository holds at most. */
  maxStreams: number
}

export function processRepositories(host: ProcessHost): Repositories {
  const open = new Map<string, RepositoryHandle>()
  return {
    open(path) {
      const handle = open.get(path) ?? processRepository(host, path)
      open.set(path, handle)
      return handle
    },
  }
}

function processRepository(host: ProcessHost, path: string): RepositoryHandle {
  const { repository, reads } = openRepository(host.openSql(path))
  const sinks = new Set<FrameSink>()
  const encoder = new TextEncoder()
  const awakeSince = new Date(host.now()).toISOString()

  const tell = <Answer>(published: Published<Answer>): PublishOutcome<Answer> => {
    if (!published.ok) return published
    if (published.frame !== undefined) {
      const bytes = encoder.encode(published.frame)
      for (const sink of sinks) sink.frame(bytes)
    }
    return { ok: true, answer: published.answer }
  }

  return {
    sync: async (request) => tell(repository.sync(request, host.now())),
    changes: async (request) => tell(repository.changes(request, host.now())),
    read: async (query, ifNoneMatch) =>
      answer(reads.find(query, { streams: sinks.size, awakeSince }), ifNoneMatch),
    async subscribe(from: Subscription, sink: FrameSink) {
      if (sinks.size >= host.maxStreams) return { ok: false, reason: 'full' }
      for (const frame of repository.replay(from)) sink.frame(encoder.encode(frame))
      sinks.add(sink)
      return { ok: true, close: () => sinks.delete(sink) }
    },
  } satisfies RepositoryHandle
}
