// The function `watchBoard`, and how it puts a watch together from its options. Wiring only.

import { hostClock } from '../../worker/shared/clock.ts'
import { Connection } from './connection.ts'
import { followLifecycle, isVisible, pageOrigin, report } from './host.ts'
import { Reads } from './reads.ts'
import { Edge } from './requests.ts'
import { eventSourceStreams } from './stream-event-source.ts'
import { fetchStreams } from './stream-fetch.ts'
import { BoardError, type BoardWatch, type WatchBoardOptions } from './types.ts'
import { Watch, type WatchDeps } from './watch.ts'

/**
 * Watches a board until `close`. Throws a BoardError with the code `invalid_url` if `url` is not
 * valid, or is missing outside of a page.
 *
 * @example
 * const watch = watchBoard({
 *   path: '/home/mira/shop',
 *   onTasks: (tasks) => console.log(tasks.map(({ id, status }) => `${id} ${status}`)),
 *   onState: (state) => console.log(state.name),
 * })
 */
export const watchBoard = (options: WatchBoardOptions): BoardWatch =>
  openWatch(options, { clock: hostClock, followLifecycle, isVisible, report })

/** @forTests With a fake network and clock. */
export function openWatch(options: WatchBoardOptions, deps: WatchDeps): BoardWatch {
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
  return new Watch(options, {
    ...deps,
    reads: new Reads(edge),
    connection: (on) => new Connection({ streams, clock, on }),
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
