// Changes what a gateway sends, wherever it writes an amount or an id: the suite knows no format.

import type { Answer } from './gateway-setup.ts'

type Path = readonly string[]

/** Where two values of one shape have different numbers, or texts of numbers. */
export function numbersThatDiffer(one: unknown, other: unknown, path: Path = []): Path[] {
  if (isObject(one) && isObject(other)) {
    return Object.entries(one).flatMap(([name, value]) =>
      numbersThatDiffer(value, other[name], [...path, name]),
    )
  }
  return one !== other && isNumber(one) && isNumber(other) ? [path] : []
}

/** A copy of JSON with another value at each path; undefined: without it. */
export const changedAt = (
  value: unknown,
  paths: readonly Path[],
  change: (value: string | number) => unknown,
): unknown =>
  changed(value, (each, path) =>
    isNumber(each) && paths.some((known) => known.join('\n') === path.join('\n'))
      ? change(each)
      : each,
  )

/** A copy of JSON without this text, wherever it stands alone. */
export const without = (value: unknown, text: string): unknown =>
  changed(value, (each) => (each === text ? undefined : each))

/** The same answers, which are JSON, changed. */
export const replaying =
  (answer: Answer, change: (body: unknown, request: Request) => unknown): Answer =>
  async (request) => {
    const response = await answer(request.clone())
    const body = await jsonOf(response)
    if (body === undefined) return response
    const text = JSON.stringify(await change(body, request))
    return new Response(text, { status: response.status, headers: response.headers })
  }

/** Undefined: it has no body. */
export async function jsonOf(response: Response): Promise<unknown> {
  const text = await response.clone().text()
  return text === '' ? undefined : JSON.parse(text)
}

function changed(
  value: unknown,
  change: (leaf: unknown, path: Path) => unknown,
  path: Path = [],
): unknown {
  if (Array.isArray(value)) {
    return value.map((each, at) => changed(each, change, [...path, String(at)]))
  }
  if (!isObject(value)) return change(value, path)
  const entries = Object.entries(value).map(([name, each]) => [
    name,
    changed(each, change, [...path, name]),
  ])
  return Object.fromEntries(entries.filter(([, each]) => each !== undefined))
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null

const isNumber = (value: unknown): value is string | number =>
  typeof value === 'number' || (typeof value === 'string' && /^\d+(\.\d+)?$/.test(value))
