// The days of a time zone: from one local midnight to the next, which are 23 to 25 hours. Pure; all
// times are ms.

import { DAY_MS, HOUR_MS } from './time.ts'

/** A name of IANA's list, such as `Asia/Baghdad`. */
export function isZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    return true
  } catch {
    return false
  }
}

const formats = new Map<string, Intl.DateTimeFormat>()

/** The zone's date at this time, such as `2026-11-27`. */
export function dayOf(ms: number, zone: string): string {
  let format = formats.get(zone)
  if (!format) {
    const digits = { year: 'numeric', month: '2-digit', day: '2-digit' } as const
    format = new Intl.DateTimeFormat('en', { timeZone: zone, ...digits, calendar: 'iso8601' })
    formats.set(zone, format)
  }
  const parts = Object.fromEntries(format.formatToParts(ms).map(({ type, value }) => [type, value]))
  return `${parts.year?.padStart(4, '0')}-${parts.month}-${parts.day}`
}

/** No zone is further from UTC. */
const MAX_OFFSET_MS = 16 * HOUR_MS

/** The first ms of that date. Where a clock skips midnight, the day begins later. */
export function startOfDay(day: string, zone: string): number {
  const utc = Date.parse(day)
  let before = utc - MAX_OFFSET_MS
  let from = utc + MAX_OFFSET_MS
  while (from - before > 1) {
    const middle = Math.floor((before + from) / 2)
    if (dayOf(middle, zone) < day) before = middle
    else from = middle
  }
  return from
}

/** The dates from `first` on, before `end`. */
export function daysBetween(first: string, end: string): string[] {
  const days: string[] = []
  for (let at = Date.parse(first); at < Date.parse(end); at += DAY_MS) {
    days.push(new Date(at).toISOString().slice(0, 10))
  }
  return days
}
