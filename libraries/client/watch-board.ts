// The function `watchBoard`, and how it puts a watch together from its options. Wiring only.

import { hostClock } from './clock.ts'
import { Connection, type ConnectionEvents } from './connection.ts'
import { claimsOf, Edge } from './edge.ts'
import { followLifecycle, isVisible, pageOrigin, report } from './host.ts'
import { SharedLink } from './link-shared.ts'
import { Reads } from './reads.ts'
import { eventSourceStreams } from './stream-event-source.ts'
import { fetchStreams } from './stream-fetch.ts'
import type { Tabs } from './tabs.ts'
import { browserTabs } from './tabs.ts'
import { BoardError, type BoardWatch, type WatchBoardOptions } from './types.ts'
import { Watch, type WatchDeps } from './watch.ts'

/**
 * Contains the version of the posts between tabs: a tab that was not reloaded may run older code.
 * Two versions do not share a stream.
 */
const TABS_NAME = 'signalbox 2'

export interface OpenDeps extends WatchDeps {
  /** Undefined where tabs cannot share a stream. */
  tabs(name: string): Tabs | undefined
}

/**
 * Watches a board until `close`. Throws a BoardError with the code `invalid_url` if `url` is not
 * valid, or is missing outside of a page.
 */
export const watchBoard = (options: WatchBoardOptions): BoardWatch =>
  openWatch(options, { clock: hostClock, followLifecycle, isVisible, report, tabs: browserTabs })

/** @forTests With a fake network and clock. */
export function openWatch(options: WatchBoardOptions, deps: OpenDeps): BoardWatch {
  const url = edgeUrl(options.url ?? pageOrigin())
  const { clock } = deps
  const edge = new Edge({
    url,
    path: options.path,
    token: options.token,
    // Browsers refuse to call a `fetch` that was detached from the global object.
    fetch: options.fetch ?? ((input, init) => fetch(input, init)),
    clock,
  })
  const streams = options.EventSource
    ? eventSourceStreams(edge, options.EventSource, clock)
    : fetchStreams(edge)
  const connect = (on: ConnectionEvents, lastEventId?: string) =>
    new Connection({ streams, clock, on, lastEventId })
  const path = sharedPath(options)
  const tabs = path === undefined ? undefined : deps.tabs(`${TABS_NAME} ${url} ${path}`)
  return new Watch(options, {
    ...deps,
    reads: new Reads(edge),
    link: (on) =>
      tabs
        ? new SharedLink({ tabs, connect, clock, on })
        : connect({ ...on, position: () => undefined }),
  })
}

/** Checked as text too, because React Native's URL accepts any text. */
const ABSOLUTE = /^https?:\/\/[^\s/?#@]+(\/[^\s?#]*)?$/i

/** Removes trailing slashes. An invalid URL throws: else it would look like an unreachable edge. */
function edgeUrl(given: string | undefined): string {
  if (given === undefined) {
    throw new BoardError(0, 'invalid_url', 'watchBoard needs the option url outside of a page.')
  }
  try {
    if (ABSOLUTE.test(given) && new URL(given)) return given.replace(/(?<!\/)\/+$/, '')
  } catch {
    // Thrown below.
  }
  // The error does not show the URL, which may contain a password.
  const rule = 'absolute, like https://signalbox.example, without a query or a password'
  throw new BoardError(0, 'invalid_url', `The url of watchBoard must be ${rule}.`)
}

/**
 * Tabs with the same shared path share a stream. Undefined: the repository is unknown before the
 * stream is open, so it is not shared. Without a token, all tabs use the same cookie.
 */
function sharedPath({ path, token }: WatchBoardOptions): string | undefined {
  if (path !== undefined || token === undefined) return path ?? ''
  const repos = typeof token === 'string' ? claimsOf(token).repos : undefined
  const [repo, ...others] = Array.isArray(repos) ? (repos as unknown[]) : []
  return typeof repo === 'string' && others.length === 0 ? repo : undefined
}
