// Validates the query of a read endpoint. An unknown parameter is an error: a misspelt filter that
// is ignored would return everything, and look as if it had worked.

import { Problem, type Reason } from './problem.ts'

/** Throws a Problem for a parameter that is not in `known`, or that occurs twice. */
export function requireKnownQuery(url: string, known: readonly string[]): void {
  const { searchParams } = new URL(url)
  for (const name of new Set(searchParams.keys())) {
    if (!known.includes(name)) {
      const shown = JSON.stringify(name.slice(0, 64).toWellFormed())
      const all = known.length === 0 ? 'takes none' : `knows ${known.join(', ')}`
      throw new Problem('unknown_filter', `There is no query parameter ${shown}: this ${all}.`)
    }
    if (searchParams.getAll(name).length > 1) {
      throw new Problem('unknown_filter', `The query parameter ${name} must occur only once.`)
    }
  }
}

/**
 * Undefined: the parameter is missing. Throws a Problem of `reason` for a value not in `values`.
 */
export function oneOf<Value extends string>(
  name: string,
  asked: string | undefined,
  values: readonly Value[],
  reason: Reason,
): Value | undefined {
  const found = values.find((value) => value === asked)
  if (asked === undefined || found !== undefined) return found
  throw new Problem(reason, `${name} must be one of ${values.join(', ')}.`)
}
