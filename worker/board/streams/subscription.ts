// The port through which a client’s stream reaches its repository, wherever that is.

export interface ChangeStream {
  /**
   * Joins the change stream, also of a repository that is not published, and stores nothing. If the
   * repository cannot be reached, the stream waits for it.
   */
  subscribe(from: Subscription, sink: StreamSink): Subscribed
}

/** Where a stream stopped, by its last event id or, without one, when it opened (ms). */
export interface Subscription {
  lastEventId: string | undefined
  since: number
  /** Whose stream it is. */
  holder: string
}

/** One client's stream, as a repository sees it. */
export interface StreamSink {
  /** Whole blocks of the stream, encoded. */
  send(bytes: Uint8Array): void
  /** `full`: the repository, or the holder, has as many as they may. `closed`: the host ends. */
  end(reason: 'full' | 'failed' | 'closed'): void
}

/** How often a stream pings. */
export const PING_MS = 15_000

export interface Subscribed {
  /** Called at each ping of the stream, so that a shared subscription needs fewer timers. */
  onPing(): void
  /** Streams may be opened for any path: the last one of a path leaves nothing in memory. */
  close(): void
}

/** What a stream that was refused is subscribed to. */
export const NOT_SUBSCRIBED: Subscribed = { onPing: () => undefined, close: () => undefined }
