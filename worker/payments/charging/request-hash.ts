// Tells whether two requests are the same one, whatever the order of their fields.

import { sha256Hex } from '../../shared/sha256.ts'

/** SHA-256 as hex. */
export async function requestHash(request: object): Promise<string> {
  return await sha256Hex(JSON.stringify(sorted(request)))
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).filter(([, inner]) => inner !== undefined)
  entries.sort(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(entries.map(([name, inner]) => [name, sorted(inner)]))
}
