// Puts a watch together from its options. Wiring only.

import { Connection, type ConnectionEvents } from './connection.ts'
import { Credentials, claimsOf } from './credentials.ts'
import { Edge } from './edge.ts'
import { pageOrigin } from './host.ts'
import { SharedLink } from './link-shared.ts'
import { Reads } from './reads.ts'
import { eventSourceStreams } from './stream-event-source.ts'
import { fetchStreams } from './stream-fetch.ts'
import type { Tabs } from './tabs.ts'
import { BoardError, type BoardWatch, type WatchBoardOptions } from './types.ts'
import { Watch, type WatchDeps } from './watch.ts'

/** With the version of what tabs say to each other: one of them may not have been reloaded. */
const TABS = 'signalbox 1'

export interface OpenDeps extends WatchDeps {
  /** Undefined where nobody can be found by this name. */
  tabs(name: string): Tabs | undefined
}

export function openWatch(options: WatchBoardOptions, deps: OpenDeps): BoardWatch {
  const url = edgeUrl(options.url ?? pageOrigin())
  const { clock } = deps
  const edge = new Edge({
    url,
    path: options.path,
    credentials: new Credentials(options.token, clock),
    // Taken off the global it would be called without it, which browsers refuse.
    fetch: options.fetch ?? ((input, init) => fetch(input, init)),
    clock,
  })
  const streams = options.EventSource
    ? eventSourceStreams(edge, options.EventSource, clock)
    : fetchStreams(edge)
  const connect = (on: ConnectionEvents, lastEventId?: string) =>
    new Connection({ streams, clock, on, lastEventId })
  const path = sharedPath(options)
  const tabs = path === undefined ? undefined : deps.tabs(`${TABS} ${url} ${path}`)
  return new Watch(options, {
    ...deps,
    reads: new Reads(edge),
    link: (on) =>
      tabs
        ? new SharedLink({ tabs, connect, clock, on })
        : connect({ ...on, place: () => undefined }),
  })
}

/** React Native's URL takes any text, so the text itself is looked at too. */
const ABSOLUTE = /^https?:\/\/[^\s/?#@]+(\/[^\s?#]*)?$/i

/** Without slashes at the end. Any other text would count as an edge out of reach, for ever. */
function edgeUrl(given: string | undefined): string {
  if (given === undefined) {
    throw new BoardError(0, 'invalid_url', 'watchBoard needs a url where there is no page.')
  }
  try {
    if (ABSOLUTE.test(given) && new URL(given)) return given.replace(/\/+$/, '')
  } catch {
    // Said below.
  }
  // Not shown: it may hold a password.
  const rule = 'absolute, like https://signalbox.example, without a query or a password'
  throw new BoardError(0, 'invalid_url', `The url of watchBoard must be ${rule}.`)
}

/**
 * What tabs must have in common to share a stream. Undefined: nobody knows before it is open which
 * repository it will be of, so it is not shared. Without a token it is the cookie's, which is one.
 */
function sharedPath({ path, token }: WatchBoardOptions): string | undefined {
  if (path !== undefined || token === undefined) return path ?? ''
  const repos = typeof token === 'string' ? claimsOf(token).repos : undefined
  const [repo, ...others] = Array.isArray(repos) ? (repos as unknown[]) : []
  return typeof repo === 'string' && others.length === 0 ? repo : undefined
}
