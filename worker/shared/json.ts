// Values of JSON: from a text that may be none, and without what JSON has no word for.

/** Undefined where the text is no JSON. */
export function jsonIn(text = ''): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Its properties that may be undefined are absent then. */
type Defined<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>
}

/**
 * Leaves out undefined properties: a comparison or a hash would take the record for another one.
 */
export function defined<T extends object>(value: T): Defined<T> {
  const kept: Record<string, unknown> = {}
  for (const [key, item] of Object.entries(value)) if (item !== undefined) kept[key] = item
  return kept as Defined<T>
}
