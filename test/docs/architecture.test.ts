// Every page names only files that there are: a page that is believed leads somewhere.

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

/** In the pages about the code, a path may start where its section stands: `writer.ts`. */
const ROOMS = [
  '',
  'sidecar',
  'worker',
  'worker/board',
  'worker/payments',
  'worker/payments/gateways',
  'worker/payments/ledger',
]

// biome-ignore format: several names a line.
const FOLDERS = [
  'cli', 'console', 'docs', 'examples', 'libraries', 'migrations', 'sidecar', 'simulator', 'system',
  'test', 'tools', 'worker',
]
const ALL = [
  ...readdirSync('.'),
  ...FOLDERS.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)),
  ),
]
const PAGES = ALL.filter((name) => /^(?:docs\/)?[\w-]+\.md$/.test(name) && name !== 'CHANGELOG.md')
const OF_THE_CODE = ['docs/architecture.md', 'CONTRIBUTING.md']

/** Names that a reader is to choose, and the example of docs/drivers.md. */
const isChosen = (name: string) => /NAME|\bN\.sql$|acme/.test(name)

const namedIn = (page: string, what: RegExp): string[] =>
  [...readFileSync(page, 'utf8').matchAll(what)]
    .map(([, name = '']) => name)
    .filter((name) => !isChosen(name))

describe('the pages about the code', () => {
  it.each(OF_THE_CODE)('%s names only files and folders that exist', (page) => {
    const named = namedIn(page, /`([\w./-]+(?:\.tsx?|\.sql|\/))`/g)
    const isThere = (name: string) => ROOMS.some((room) => existsSync(join(room, name)))
    expect(named.length).toBeGreaterThan(20)
    expect(named.filter((name) => !isThere(name))).toEqual([])
  })
})

describe('the other pages', () => {
  it('are read', () => {
    expect(PAGES).toEqual(expect.arrayContaining([...OF_THE_CODE, 'README.md', 'docs/design.md']))
  })

  it.each(PAGES)('%s names only files that exist', (page) => {
    const named = namedIn(page, /`([\w./-]+\.(?:tsx?|sql|css))`/g)
    const isThere = (name: string) => ALL.some((file) => file === name || file.endsWith(`/${name}`))
    expect(named.filter((name) => !isThere(name))).toEqual([])
  })
})
