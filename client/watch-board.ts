// The client's one function, for the host that it finds itself in.

import { hostClock } from './clock.ts'
import { followLifecycle, report } from './host.ts'
import { openWatch } from './open-watch.ts'
import { browserTabs } from './tabs-browser.ts'
import type { BoardWatch, WatchBoardOptions } from './types.ts'

/**
 * Watches a board until `close`. Throws a BoardError of the code `invalid_url` when `url` is none,
 * or left out outside of a page.
 */
export const watchBoard = (options: WatchBoardOptions): BoardWatch =>
  openWatch(options, { clock: hostClock, followLifecycle, report, tabs: browserTabs })
