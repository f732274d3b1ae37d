// The pages for whoever changes the code name only what there is.

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'

/** A path may start where its section stands: `writer.ts` in that of the ledger. */
const ROOMS = [
  '',
  'sidecar',
  'worker',
  'worker/board',
  'worker/payments',
  'worker/payments/gateways',
  'worker/payments/ledger',
]

it.each(['docs/architecture.md', 'CONTRIBUTING.md'])('%s names only files that exist', (page) => {
  const text = readFileSync(page, 'utf8')
  const named = [...text.matchAll(/`([\w./-]+(?:\.tsx?|\.sql|\/))`/g)].map(([, name = '']) => name)
  const isThere = (name: string) => ROOMS.some((room) => existsSync(join(room, name)))
  expect(named.length).toBeGreaterThan(20)
  expect(named.filter((name) => !name.includes('NAME') && !isThere(name))).toEqual([])
})
