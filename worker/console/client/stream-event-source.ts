// The event stream by an EventSource, for hosts whose fetch cannot stream.

/** What is used of an EventSource; the browser's and the package `eventsource` both have it. */
export type EventSourceClass = new (
  url: string,
  init?: { withCredentials?: boolean },
) => EventSourceLike

export interface EventSourceLike {
  readonly readyState: number
  onopen: ((event: never) => unknown) | null
  onmessage: ((event: never) => unknown) | null
  onerror: ((event: never) => unknown) | null
  close(): void
}
