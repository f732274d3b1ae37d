// The port through which the Worker reaches repositories, wherever they live: in Durable Objects
// (repositories-object.ts) or in this process (repositories-process.ts).

import type { Query } from './reads.ts'
import type { PublishRefusal } from './repository.ts'
import type { ChangesAnswer, ChangesRequest, SyncAnswer, SyncRequest } from './wire.ts'

export interface Repositories {
  /** The repository of this path; made when it is first written to. The caller checked access. */
  open(path: string): RepositoryHandle
}

export interface RepositoryHandle {
  /** The caller has validated the request. Clients are told before this resolves. */
  sync(request: SyncRequest): Promise<PublishOutcome<SyncAnswer>>
  changes(request: ChangesRequest): Promise<PublishOutcome<ChangesAnswer>>
  /** `ifNoneMatch` is the request's header, so an unchanged body never leaves the repository. */
  read(query: Query, ifNoneMatch: string | undefined): Promise<ReadAnswer>
  /**
   * Uses up an id that is good for one time; false: it was used before. Remembered until
   * `expiresAt` (ms). A repository that nobody has published stays so.
   */
  spend(id: string, expiresAt: number): Promise<boolean>
  /**
   * Joins the change stream; of a repository that nobody has published, too, which leaves nothing
   * behind. Throws when the repository cannot be reached now.
   */
  subscribe(from: Subscription, sink: FrameSink): Promise<Subscribed>
}

export type PublishOutcome<Answer> = { ok: true; answer: Answer } | ({ ok: false } & PublishRefusal)

export type ReadAnswer =
  | { state: 'unpublished' | 'absent' }
  | { state: 'unchanged'; seq: string; etag: string }
  | { state: 'found'; seq: string; etag: string; body: ReadableStream<Uint8Array> }

/** Where a stream stopped, by its last event id or, without one, when it opened (ms). */
export interface Subscription {
  lastEventId: string | undefined
  since: number
  /** Whose stream it is. */
  holder: string
}

/** How many streams one repository holds at most, and how many of them one holder may have. */
export interface StreamRoom {
  all: number
  each: number
}

/** One holder with a single token must not keep all others out. */
export const streamRoom = (maxStreams: number): StreamRoom => ({
  all: maxStreams,
  each: Math.max(1, Math.floor(maxStreams / 4)),
})

export interface FrameSink {
  /** One encoded block of the stream, whole. */
  frame(bytes: Uint8Array): void
  /** The repository let go (a deploy, an eviction): subscribe again with the last id. Once. */
  closed(): void
}

/** `full`: the repository, or the holder, has as many streams as they may. */
export type Subscribed = { ok: true; close(): void } | { ok: false; reason: 'full' }
