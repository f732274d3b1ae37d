// Which causes for a notice this page sees by itself, and which of them are new. Pure.

import type { Task } from '../../libraries/api/types.ts'
import { type Cause, causesOf } from '../../worker/board/notices/notice-causes.ts'
import { turnOf } from '../../worker/board/notices/notice-turn.ts'
import { causeLine } from '../../worker/shared/notice-rules.ts'
import type { Board } from '../board/cards.ts'
import type { Shown } from '../data/notifying.ts'
import { count } from '../ui/format.ts'

/** What the page reads says all of these. */
const SHOWN = ['stalled', 'silent', 'review', 'ready'] as const

interface PageTurn {
  news: readonly Cause[]
  shown: Shown
  /** When the next one is due without any change of the board, in ms. */
  nextAt: number
}

export type WholeBoard = Board & {
  sessions: NonNullable<Board['sessions']>
  config: NonNullable<Board['config']>
  /** No task is handed out. */
  isPaused: boolean
}

export function turnOfPage(board: WholeBoard, before: Shown): PageTurn {
  const { tasks, config, layout = 'cairn', isPaused, moment } = board
  const sessions = [...board.sessions.values()].filter(({ health }) => isOpen(health))
  const { now, silentAfterMs } = moment
  const facts = { tasks, config: { ...config, layout }, sessions, ended: [], isPaused, now }
  const turns = SHOWN.map((on) => {
    const known = new Map(Object.entries(before[on] ?? {}))
    const afterMs = on === 'silent' ? silentAfterMs : 0
    return { on, ...turnOf(known, causesOf(on, facts), { afterMs, now }) }
  })
  return {
    news: turns.flatMap(({ news }) => news),
    shown: Object.fromEntries(turns.map(({ on, known }) => [on, Object.fromEntries(known)])),
    nextAt: Math.min(...turns.map(({ nextAt = Number.POSITIVE_INFINITY }) => nextAt)),
  }
}

const isOpen = (health: string): boolean => health === 'active' || health === 'stalled'

const MOST = 5

/** Several at once are one. `task`: to open, if it is about one. */
export function noticeOf(news: readonly Cause[]): {
  title: string
  body: string
  task?: Task['id']
} {
  const [first, another] = news
  if (!first || another) {
    const body = news.slice(0, MOST).map(causeLine).join('\n')
    return { title: `${count(news.length, 'thing')} to look at`, body }
  }
  return {
    title: causeLine(first),
    body: '',
    ...(first.task !== undefined && { task: first.task }),
  }
}
