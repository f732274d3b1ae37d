// An EventSource, as much of it as is used: no host's types fit all the others.

/** What is used of an EventSource; the browser's and the package `eventsource` both have it. */
export type EventSourceClass = new (url: string) => EventSourceLike

export interface EventSourceLike {
  readonly readyState: number
  onopen: ((event: never) => unknown) | null
  onmessage: ((event: never) => unknown) | null
  onerror: ((event: never) => unknown) | null
  close(): void
}
