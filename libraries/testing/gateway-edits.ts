// Changes what a gateway sends, wherever it writes an amount or an id: the suite knows no format.

import { parseJson } from '../../worker/payments/gateways/reply.ts'
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

/** A copy of JSON without these texts. */
export const without = (value: unknown, isIt: (text: string) => boolean): unknown =>
  changed(value, (each) => (typeof each === 'string' && isIt(each) ? undefined : each))

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

export const jsonOf = async (response: Response): Promise<unknown> =>
  jsonIn(await response.clone().text())

/** Undefined: it is empty. */
export const jsonIn = (text: string): unknown => (text === '' ? undefined : parseJson(text))

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

/** Of two values of JSON with the same order of fields. */
export const isEqual = (one: unknown, other: unknown): boolean =>
  JSON.stringify(one) === JSON.stringify(other)

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null

const isNumber = (value: unknown): value is string | number =>
  typeof value === 'number' || (typeof value === 'string' && /^\d+(\.\d+)?$/.test(value))
