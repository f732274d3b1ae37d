// Formats ages and times in the language of the page. Pure.

import { locale, words } from '../words.ts'

const relative = new Intl.RelativeTimeFormat(locale, { numeric: 'always', style: 'short' })
const clock = new Intl.DateTimeFormat(locale, { timeStyle: 'medium' })
const minute = new Intl.DateTimeFormat(locale, { hour: 'numeric', minute: '2-digit' })
const date = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short' })

const STEPS = [
  { unit: 'day', ms: 86_400_000 },
  { unit: 'hour', ms: 3_600_000 },
  { unit: 'minute', ms: 60_000 },
] as const

/** `5 min. ago`. Both in ms. `just now` below a minute, and for the future (clocks differ). */
export function ago(at: number, now: number): string {
  const age = now - at
  const step = STEPS.find(({ ms }) => age >= ms)
  return step ? relative.format(-Math.floor(age / step.ms), step.unit) : words.justNow
}

/** `14:03:07` today, else with the date. */
export function timeOf(at: number, now: number): string {
  const isToday = new Date(at).toDateString() === new Date(now).toDateString()
  return isToday ? clock.format(at) : date.format(at)
}

/** `14:03`. */
export const minuteOf = (at: number): string => minute.format(at)

/** Date and time, for a tooltip or a timeline. */
export const dateOf = (at: number): string => date.format(at)
