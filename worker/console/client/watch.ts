// Keeps one board current for its caller.

import type { BoardWatch, WatchBoardOptions } from './board-watch.ts'

/** Watches a board until `close`. Throws TypeError when no `url` is given outside of a page. */
export function watchBoard(_options: WatchBoardOptions): BoardWatch {
  throw new TypeError('not there yet')
}
