// Validates the query of a read endpoint. An unknown parameter is an error: a misspelt filter that
// is ignored would return everything, and look as if it had worked.

import * as z from 'zod'
import { checkFields } from './fields.ts'
import { Problem, type Reason } from './problem.ts'

/** Which of two is meant, nobody knows. Throws a Problem for a parameter that occurs twice. */
export function refuseRepeated(url: string): void {
  const names = [...new URL(url).searchParams.keys()]
  const repeated = names.find((name, at) => names.indexOf(name) !== at)
  if (repeated === undefined) return
  const shown = JSON.stringify(repeated.slice(0, 64).toWellFormed())
  throw new Problem('unknown_filter', `The query parameter ${shown} must occur only once.`)
}

/**
 * The parameters that `schema` has. Throws a Problem for any other one, for one that occurs twice
 * and, with `reason`, for a wrong value. `isEmptyMissing`: an empty filter filters by nothing.
 */
export function readQuery<Schema extends z.ZodObject>(
  url: string,
  schema: Schema,
  { reason, isEmptyMissing = false }: { reason: Reason; isEmptyMissing?: boolean },
): z.infer<Schema> {
  refuseRepeated(url)
  const { searchParams } = new URL(url)
  const known = Object.keys(schema.shape)
  for (const name of new Set(searchParams.keys())) {
    if (!known.includes(name)) {
      const shown = JSON.stringify(name.slice(0, 64).toWellFormed())
      const all = known.length === 0 ? 'takes none' : `knows ${known.join(', ')}`
      throw new Problem('unknown_filter', `There is no query parameter ${shown}: this ${all}.`)
    }
  }
  const given = [...searchParams].filter(([, value]) => !isEmptyMissing || value !== '')
  const checked = checkFields(schema, Object.fromEntries(given))
  if (checked.ok) return checked.value
  throw new Problem(reason, checked.error)
}

/** One of these values. */
export const choice = <const Values extends readonly string[]>(values: Values) =>
  z.enum(values, `must be one of ${values.join(', ')}`)

/** A whole number from 1 to `max`. */
export function count({ fallback, max }: { fallback: number; max: number }) {
  const message = `must be a whole number from 1 to ${max}`
  return z.coerce.number(message).int(message).min(1, message).max(max, message).default(fallback)
}
