// Checks what a client sent. Its faults are named in plain words: those of the validator would
// speak of types and patterns, which a person who fills in a field does not know.

import * as z from 'zod'

/** RFC 3339, in an answer: nothing checks it. */
export const timeSchema = z.string().meta({ format: 'date-time' })

/** `error` is one sentence that names every wrong field. */
export type Checked<Value> = { ok: true; value: Value } | { ok: false; error: string }

export function checkFields<Schema extends z.ZodType>(
  schema: Schema,
  asked: unknown,
): Checked<z.output<Schema>> {
  // A schema that has words of its own keeps them.
  const read = schema.safeParse(asked, { error: wordsFor })
  return read.success
    ? { ok: true, value: read.data }
    : { ok: false, error: sentenceOf(read.error.issues) }
}

/** A large request can be wrong in thousands of places. */
const MAX_NAMED = 5
const MAX_CHARS = 64
const UNKNOWN = 'is not a known field'

function sentenceOf(issues: readonly z.core.$ZodIssue[]): string {
  const faults = issues.map(({ path, message }) => [nameOf(path), message] as const)
  const unknown = issues.flatMap(({ path, ...issue }) =>
    issue.code === 'unrecognized_keys'
      ? issue.keys.map((key) => [nameOf([...path, key]), UNKNOWN] as const)
      : [],
  )
  // First the misspelt ones, since they are why others are missing. One fault for each field: too
  // large a number is both no whole number and too large.
  const all = new Map([...unknown, ...faults.filter(([, words]) => words !== UNKNOWN)])
  const named = [...all].slice(0, MAX_NAMED).map((fault) => fault.join(' '))
  const more = all.size > MAX_NAMED ? `; and ${all.size - MAX_NAMED} more` : ''
  return `${named.join('; ')}${more}.`
}

function nameOf(path: readonly PropertyKey[]): string {
  const parts = path.map((part) => String(part).toWellFormed())
  const cut = parts.map((part) => (part.length > MAX_CHARS ? `${part.slice(0, MAX_CHARS)}…` : part))
  return cut.join('.') || 'The request'
}

const KINDS: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  object: 'an object',
  record: 'an object',
  array: 'a list',
  null: 'null',
}

function wordsFor(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined ? 'is missing' : `must be ${kindOf(issue)}`
    case 'too_small':
      return tooSmall(issue)
    case 'too_big':
      return `must ${limitOf(issue.origin, Number(issue.maximum))} at most`
    case 'invalid_value':
      return `must be one of ${issue.values.join(', ')}`
    case 'invalid_key':
      return `has a name that ${issue.issues[0]?.message}`
    case 'unrecognized_keys':
      return UNKNOWN
    case 'invalid_union':
      // None of them: the field that decides between several shapes is wrong.
      if (issue.errors.length === 0) return 'is not valid'
      return issue.errors
        .map(([first]) => first?.message)
        .join(' or ')
        .replaceAll(' or must be', ' or')
    default:
      return 'is not valid'
  }
}

function kindOf({ expected, inst }: z.core.$ZodRawIssue<z.core.$ZodIssueInvalidType>): string {
  // Where a whole number is wanted, the validator says so of a fraction only, not of a text.
  const isWhole = expected === 'number' && inst !== undefined && 'format' in inst._zod.def
  return KINDS[isWhole ? 'int' : expected] ?? expected
}

function tooSmall(issue: z.core.$ZodRawIssue<z.core.$ZodIssueTooSmall>): string {
  const { origin, minimum, inclusive } = issue
  if (minimum === 1 && /^(string|array)$/.test(origin)) return 'must not be empty'
  if (inclusive === false) return `must be more than ${minimum}`
  return `must ${limitOf(origin, Number(minimum))} at least`
}

function limitOf(origin: string, limit: number): string {
  if (origin === 'string') return `have ${limit} characters`
  return origin === 'array' ? `have ${limit} entries` : `be ${limit}`
}

/** Half a surrogate pair has no UTF-8: neither the database nor a gateway could take it. */
export const wellFormed = (maxChars: number) =>
  z
    .string()
    .min(1)
    .max(maxChars)
    .refine((text) => text.isWellFormed(), 'must be whole characters')

const NO_CONTROLS = 'must not hold control characters'

export const line = (maxChars: number) =>
  wellFormed(maxChars).regex(
    // biome-ignore lint/suspicious/noControlCharactersInRegex: those are what it keeps out.
    /^[^\u0000-\u001f\u007f]*$/,
    NO_CONTROLS,
  )

/** Characters are counted as a person does: an emoji is two units of UTF-16, and one character. */
export const lines = (maxChars: number) =>
  z
    .string()
    .min(1)
    .refine((text) => [...text].length <= maxChars, `must have ${maxChars} characters at most`)
    .refine((text) => text.isWellFormed(), 'must be whole characters')
    // biome-ignore lint/suspicious/noControlCharactersInRegex: those are what it keeps out.
    .refine((text) => !/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/.test(text), NO_CONTROLS)
    .meta({ maxLength: maxChars })
