// Takes typed values out of a map that may contain anything, and remembers what had to be dropped.
// The remaining values are for `extra`. No I/O.

import type { Plain } from './plain-yaml.ts'

export class Fields {
  readonly #fields: Map<string, Plain>
  /** Shared by the fields of nested maps, so that their losses are listed with the file's. */
  readonly problems: string[]

  constructor(fields: Map<string, Plain>, problems: string[] = []) {
    this.#fields = fields
    this.problems = problems
  }

  /** Text, or a scalar as text; undefined when absent, empty or null. */
  text(key: string): string | undefined {
    const value = this.#take(key)
    if (value === null || value === '') return undefined
    if (typeof value !== 'object') return String(value)
    this.problems.push(`"${key}" is not text`)
    return undefined
  }

  /** A time, as `utcTime` spells it. */
  time(key: string): string | undefined {
    const text = this.text(key)
    return text === undefined ? undefined : utcTime(text)
  }

  /** A number, also when it is written as text. */
  number(key: string): number | undefined {
    const value = this.#take(key)
    if (value === null || value === '') return undefined
    const number = typeof value === 'string' ? Number(value) : value
    if (typeof number === 'number' && Number.isFinite(number)) return number
    this.problems.push(`"${key}" is not a number`)
    return undefined
  }

  /** A list of texts; a single scalar is a list of one. Undefined when there is nothing in it. */
  texts(key: string): string[] | undefined {
    const value = this.#take(key)
    if (value === null || value === '') return undefined
    if (typeof value !== 'object') return [String(value)]
    if (!Array.isArray(value)) {
      this.problems.push(`"${key}" is not a list`)
      return undefined
    }
    const texts = value.flatMap((item) => (isScalar(item) ? [String(item)] : []))
    if (value.some((item) => item !== null && !isScalar(item))) {
      this.problems.push(`"${key}" holds more than text`)
    }
    return texts.length > 0 ? texts : undefined
  }

  /** A list of anything. Undefined when there is none. */
  list(key: string): Plain[] | undefined {
    const value = this.#take(key)
    if (Array.isArray(value)) return value
    if (value !== null && value !== '') this.problems.push(`"${key}" is not a list`)
    return undefined
  }

  /** A list of maps. Undefined when there is nothing in it. */
  maps(key: string): Fields[] | undefined {
    const value = this.#take(key)
    if (value === null || value === '') return undefined
    const items = Array.isArray(value) ? value : [value]
    const maps = items.filter((item) => isRecord(item))
    if (maps.length < items.length) this.problems.push(`"${key}" holds something other than maps`)
    if (maps.length === 0) return undefined
    return maps.map((item) => new Fields(new Map(Object.entries(item)), this.problems))
  }

  /** Everything that was not taken, or undefined when there is nothing. */
  rest(): Record<string, Plain> | undefined {
    this.#fields.delete('__proto__')
    return this.#fields.size > 0 ? Object.fromEntries(this.#fields) : undefined
  }

  #take(key: string): Plain {
    const value = this.#fields.get(key) ?? null
    this.#fields.delete(key)
    return value
  }
}

const isScalar = (value: Plain): value is string | number | boolean =>
  value !== null && typeof value !== 'object'

export const isRecord = (value: Plain | undefined): value is { [key: string]: Plain } =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** One sentence out of what was found wrong with `what`; undefined when nothing was. */
export function sentence(what: string, problems: readonly string[]): string | undefined {
  if (problems.length === 0) return undefined
  const more = problems.length > 3 ? ` (and ${problems.length - 3} more)` : ''
  return `${what} was not read whole: ${problems.slice(0, 3).join('; ')}${more}.`
}

const TIME = /^(\d{4}-\d\d-\d\d)[ Tt](\d\d:\d\d)(:\d\d(?:\.\d+)?)?\s*([Zz]|[+-]\d\d:\d\d)?$/

/**
 * RFC 3339 in UTC; a time without a zone is taken as UTC. A plain date and whatever is no time at
 * all stay as they are: a guess would be worse than the text.
 */
export function utcTime(text: string): string {
  const match = TIME.exec(text)
  if (!match) return text
  const [, date, minutes, seconds = ':00', zone = 'Z'] = match
  const local = `${date}T${minutes}${seconds}`
  // Kept digit for digit, not passed through Date: microseconds would be lost.
  if (zone === 'Z' || zone === 'z') return `${local}Z`
  const time = new Date(`${local}${zone}`)
  return Number.isNaN(time.getTime()) ? text : time.toISOString()
}
