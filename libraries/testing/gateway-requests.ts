// Requests of a driver, as a test looks at them: their text, their fields, and equal ones.

import assert from 'node:assert/strict'
import type { Sent } from './gateway-setup.ts'

/** All text of a request, as it was before it was encoded. */
const textOf = ({ path, headers, body }: Sent): string =>
  [path, ...[...headers].flat(), body].map(decoded).join('\n')

export const names = (sent: Sent, id: string): boolean => textOf(sent).includes(id)

export function assertAsked(sent: readonly Sent[], id: string): void {
  assert.ok(
    sent.some((request) => names(request, id)),
    'No request names the payment',
  )
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

export function bodyOf({ body }: Sent): unknown {
  try {
    return JSON.parse(body)
  } catch {
    // Not JSON, so a form.
    return Object.fromEntries(new URLSearchParams(body))
  }
}

/** Where it is sent, and each address that its body gives to the gateway. */
export const addressesIn = (sent: Sent): string[] => [
  sent.path,
  ...textsIn(bodyOf(sent)).filter((text) => URL.canParse(text)),
]

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : []
}

/** A repetition with another body or another key is another request for the gateway. */
export function assertEqual(tries: readonly Sent[]): void {
  const [first, ...more] = tries.map((sent) => ({ ...sent, headers: [...sent.headers] }))
  for (const sent of more) assert.deepEqual(sent, first, 'All tries are the same request')
}

/** It may have more than the expected fields. */
export function assertHas(actual: unknown, expected: unknown, path = 'the body'): void {
  if (typeof expected !== 'object' || expected === null) {
    assert.deepEqual(actual, expected, `${path} is ${JSON.stringify(actual)}`)
    return
  }
  for (const [name, value] of Object.entries(expected)) {
    assertHas((actual as Record<string, unknown> | null)?.[name], value, `${path}.${name}`)
  }
}
