// Statements on their way to libSQL, and the rows that come back. Imports no client: the thread of
// an embedded database needs none.

export type Value = string | number | boolean | null

export interface Statement {
  sql: string
  args: Readonly<Record<string, Value>>
}

/** Values by name. Undefined: it has none. */
export type Given = Readonly<Record<string, Value | undefined>>

/** Values as the server is to store them: a number is a float, a bigint an integer. */
export interface BoundStatement {
  sql: string
  args: Readonly<Record<string, string | number | bigint | boolean | null>>
}

/** Columns by name. */
export type Row = Readonly<Record<string, string | number | null>>

/**
 * A statement with those of `args` that it names. A name without a value would silently be NULL, so
 * it throws.
 */
export function statement(sql: string, args: Given = {}): Statement {
  const named: Record<string, Value> = {}
  for (const name of namesIn(sql)) {
    const value = args[name]
    if (value === undefined) throw new Error(`no value for :${name} in ${sql}`)
    named[name] = value
  }
  return { sql, args: named }
}

const NAMES = new Map<string, readonly string[]>()

function namesIn(sql: string): readonly string[] {
  let names = NAMES.get(sql)
  if (!names) {
    names = [...new Set([...sql.matchAll(/:([a-z]\w*)/g)].map(([, name = '']) => name))]
    NAMES.set(sql, names)
  }
  return names
}

/**
 * For a whole number past 2^53 the client would throw, and take all that was read with it. As text
 * it fails only where it is read as a number.
 */
export function toRows(read: readonly object[]): Row[] {
  const rows = read as Record<string, Row[string] | bigint>[]
  for (const row of rows) {
    for (const [name, value] of Object.entries(row)) {
      if (typeof value === 'bigint') row[name] = isSafe(value) ? Number(value) : String(value)
    }
  }
  return rows as Row[]
}

const isSafe = (value: bigint): boolean => Number.isSafeInteger(Number(value))

/** Throws RangeError for a number that is not whole, or past 2^53. */
export function storable<Bound>(name: string, value: Bound): Bound | string {
  // Half a surrogate pair has no UTF-8: for one of them the server refuses the whole batch.
  if (typeof value === 'string') return value.toWellFormed()
  // It would be stored, and then throw whenever it is read: the row could never be used again.
  if (typeof value === 'number' && !Number.isSafeInteger(value)) {
    throw new RangeError(`${name} is ${value}, which is not a whole number up to 2^53 - 1`)
  }
  return value
}

/** The client sends every number as a float; only a bigint arrives as an integer. */
export function bind({ sql, args }: Statement): BoundStatement {
  const values = Object.fromEntries(
    Object.entries(args).map(([name, given]) => {
      const isFraction = typeof given === 'number' && !Number.isInteger(given)
      const value = isFraction ? given : storable(name, given)
      return [name, Number.isInteger(value) ? BigInt(value as number) : value]
    }),
  )
  return { sql, args: values }
}
