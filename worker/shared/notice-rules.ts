// What people want to be notified of, as signalbox.config.ts has it, and what each cause is called.
// Pure.

import { printable } from './printable.ts'

export const NOTICE_CAUSES = [
  'stalled',
  'silent',
  'ready',
  'blocked',
  'review',
  'parent_done',
  'offline',
  'claim_taken',
] as const
/** The name of a rule, too. */
export type NoticeCause = (typeof NOTICE_CAUSES)[number]

/** What an address is of; `webhook` is signed by Standard Webhooks. */
export const ADDRESSED = ['webhook', 'ntfy', 'slack', 'mattermost'] as const
export type Addressed = (typeof ADDRESSED)[number]

/** An entry of `notices`. */
export interface NoticeRule {
  on: NoticeCause
  /** How long it must have lasted. */
  minutes?: number
  to: NoticeTarget
}

/** One of these. */
export type NoticeTarget =
  | { webhook: string }
  | { ntfy: string }
  | { slack: string }
  | { mattermost: string }
  /** The program and its arguments, on the sidecar's machine. The text is added as the last one. */
  | { command: readonly string[] }

/** In minutes, for rules that name none. `silent` has the edge's `SILENT_AFTER`. */
export const DEFAULT_MINUTES: Readonly<Record<Exclude<NoticeCause, 'silent'>, number>> = {
  stalled: 0,
  // Between two tasks an agent holds none.
  ready: 5,
  // Most of a plan waits for a while.
  blocked: 24 * 60,
  review: 0,
  parent_done: 0,
  offline: 0,
  claim_taken: 0,
}

/** For `--notify`: each cause, with its default time. */
export const allTo = (webhook: string): NoticeRule[] =>
  NOTICE_CAUSES.map((on) => ({ on, to: { webhook } }))

/** Each cause in words, wherever people read it. */
export const CAUSE_WORDS: Readonly<Record<NoticeCause, string>> = {
  stalled: 'Stalled',
  silent: 'Silent',
  ready: 'Ready, and nobody works',
  blocked: 'Blocked',
  review: 'To review',
  parent_done: 'All parts are done',
  offline: 'The sidecar is offline',
  claim_taken: 'Claim taken away',
}

interface ShownCause {
  on: NoticeCause
  task?: string
  title?: string
  actor?: string
  /** Of `ready`: how many tasks are. */
  ready?: number
}

/** One line. A title may have line breaks, and what rewrites a line. */
export function causeLine({ on, task, title, actor, ready }: ShownCause): string {
  const about = [task, title].filter((it) => it !== undefined).join(' ')
  const next = on === 'ready' && ready !== undefined ? `${ready}, next ${about}` : about
  const text = next === '' ? CAUSE_WORDS[on] : `${CAUSE_WORDS[on]}: ${next}`
  return printable((actor === undefined ? text : `${text} (${actor})`).replaceAll(/\s+/g, ' '))
}
