// Numbers, lists, ages and times in the language of the page. Pure.

/** As in index.html. */
export const LANGUAGE = 'en'

export const LOADING = 'Loading…'

export const number = (n: number): string => n.toLocaleString(LANGUAGE)

const plural = new Intl.PluralRules(LANGUAGE)

/** `1 task`, `1,200 tasks`. */
export const count = (n: number, one: string, other = `${one}s`): string =>
  `${number(n)} ${plural.select(n) === 'one' ? one : other}`

export const quote = (text: string): string => `“${text}”`

/** Whether this opens a web page. Others, like `javascript:`, are not linked. */
export const isWeb = (url: string | undefined): url is string => /^https?:\/\/\S+$/i.test(url ?? '')

const relative = new Intl.RelativeTimeFormat(LANGUAGE, { numeric: 'always', style: 'short' })
const clock = new Intl.DateTimeFormat(LANGUAGE, { timeStyle: 'medium' })
const minute = new Intl.DateTimeFormat(LANGUAGE, { hour: 'numeric', minute: '2-digit' })
const date = new Intl.DateTimeFormat(LANGUAGE, { dateStyle: 'medium', timeStyle: 'short' })

const MINUTE = { unit: 'minute', ms: 60_000 } as const
const STEPS = [{ unit: 'day', ms: 86_400_000 }, { unit: 'hour', ms: 3_600_000 }, MINUTE] as const

const durationIn = (unit: string) =>
  new Intl.NumberFormat(LANGUAGE, { style: 'unit', unit, unitDisplay: 'short' })
const duration = { day: durationIn('day'), hour: durationIn('hour'), minute: durationIn('minute') }

/** `5 min. ago`. Both in ms. `just now` below a minute, and for the future (clocks differ). */
export function ago(at: number, now: number): string {
  const age = now - at
  const step = STEPS.find(({ ms }) => age >= ms)
  return step ? relative.format(-Math.floor(age / step.ms), step.unit) : 'just now'
}

/** `42 min`, `3 hr`, `2 days`: how long something has lasted, at least a minute. In ms. */
export function lasting(ms: number): string {
  const { unit, ms: one } = STEPS.find((step) => ms >= step.ms) ?? MINUTE
  return duration[unit].format(Math.max(1, Math.floor(ms / one)))
}

/** `14:03:07` today, else with the date. */
export function timeOf(at: number, now: number): string {
  const isToday = new Date(at).toDateString() === new Date(now).toDateString()
  return isToday ? clock.format(at) : date.format(at)
}

/** `2026-11-29`, as a field for days has it. */
export const isDay = (text: string | undefined): text is string =>
  text !== undefined && /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text))

/** `14:03`. */
export const minuteOf = (at: number): string => minute.format(at)

/** Date and time, for a tooltip or a timeline. */
export const dateOf = (at: number): string => date.format(at)
