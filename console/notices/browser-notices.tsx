// Notices of this browser: while the page is open, it shows what it sees on the board by itself.

import { effect } from '@preact/signals'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { Cause } from '../../worker/board/notices/notice-causes.ts'
import { SILENT_AFTER_MS } from '../../worker/board/tasks/task-state.ts'
import { PAUSED } from '../../worker/shared/board-settings.ts'
import { useLimits } from '../board/limits.ts'
import type { Live } from '../data/live.ts'
import { isNotifying, keepShown, shownOn, turn } from '../data/notifying.ts'
import { go } from '../router.ts'
import { noticeOf, turnOfPage } from './causes.ts'

/** Several changes at once are one notice; and what a page sees as it wakes is old. */
const SETTLE_MS = 3_000
const DAY_MS = 86_400_000

export function Switch({ path }: { path: string }) {
  const [problem, setProblem] = useState<string>()
  if (!('Notification' in globalThis)) {
    return <p class="hint">This browser has no notifications for this page.</p>
  }
  const press = async (on: boolean) => {
    const permission = on ? await Notification.requestPermission() : 'granted'
    const isAllowed = permission === 'granted'
    setProblem(isAllowed ? undefined : 'The browser does not let this page: see its site settings.')
    turn(path, on && isAllowed)
  }
  return (
    <p>
      <label class="row">
        <input
          type="checkbox"
          checked={isNotifying(path)}
          onChange={({ currentTarget: box }) => {
            const on = box.checked
            // It is on once the browser allows it.
            box.checked = isNotifying(path)
            void press(on)
          }}
        />
        Tell me in this browser
      </label>
      <span class="problem-line" role="alert">
        {problem}
      </span>
    </p>
  )
}

/** While the page is open, whichever view it shows. */
export const BrowserNotices = ({ live }: { live: Live }) =>
  isNotifying(live.path) ? <Watching live={live} /> : null

function Watching({ live }: { live: Live }) {
  const isPaused = useRef(false)
  isPaused.current = useLimits(live).includes(PAUSED)
  useEffect(() => {
    let settles: ReturnType<typeof setTimeout> | undefined
    let next: ReturnType<typeof setTimeout> | undefined
    const look = () => {
      settles = undefined
      clearTimeout(next)
      const nextAt = lookAt(live, isPaused.current)
      // Timers of a later day begin at once.
      if (nextAt !== undefined) next = setTimeout(look, Math.min(nextAt - Date.now(), DAY_MS))
    }
    const stop = effect(() => {
      void [live.tasks.value, live.sessions.value, live.status.value, live.state.value]
      settles ??= setTimeout(look, SETTLE_MS)
    })
    return () => {
      stop()
      clearTimeout(settles)
      clearTimeout(next)
    }
  }, [live])
  return null
}

/** Shows what is new. Returns when to look again though nothing changes, in ms. */
function lookAt(live: Live, isPaused: boolean): number | undefined {
  const [tasks, sessions] = [live.tasks.peek(), live.sessions.peek()]
  const { config, layout, silentAfterMs = SILENT_AFTER_MS } = live.status.peek() ?? {}
  // Of all tabs, as it is now: another one may have shown it.
  const before = shownOn(live.path)
  // Without a stream all would fall silent, and without sessions nobody works.
  if (live.state.peek().name !== 'live' || !tasks || !sessions || !config || !before) return
  const moment = { now: Date.now(), silentAfterMs }
  const board = { tasks, sessions, config, layout, moment, isPaused }
  const { news, shown, nextAt } = turnOfPage(board, before)
  keepShown(live.path, shown)
  if (news.length > 0) show(news)
  return nextAt
}

function show(news: readonly Cause[]): void {
  if (Notification.permission !== 'granted') return
  const { title, body, task } = noticeOf(news)
  // Of two tabs that show the same at once, one is seen.
  const tag = news.map(({ on, key }) => `${on} ${key}`).join('\n')
  const notice = new Notification(title, { body, tag })
  notice.onclick = () => {
    focus()
    go({ view: 'board', ...(task !== undefined && { id: task }) })
  }
}
