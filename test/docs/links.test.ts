// Where the pages lead: to files and headings that there are, and never to npm for a name that is
// not ours.

import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { sources } from '../support/sources.ts'

const PAGES = globSync(['*.md', 'docs/*.md', 'examples/*/README.md', 'migrations/README.md'])

/** Without what is shown as code: a `#` there is a comment, and brackets are a program's. */
const textOf = (page: string): string =>
  readFileSync(page, 'utf8').replaceAll(/^```[\s\S]*?^```$/gm, '')

/** As GitHub names headings. */
function anchorsOf(page: string): string[] {
  const seen = new Map<string, number>()
  return Array.from(textOf(page).matchAll(/^#+ (.*)$/gm), ([, heading = '']) => {
    const text = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase()
    const anchor = text.replaceAll(/[^\p{L}\p{N}\s_-]/gu, '').replaceAll(' ', '-')
    const before = seen.get(anchor) ?? 0
    seen.set(anchor, before + 1)
    return before === 0 ? anchor : `${anchor}-${before}`
  })
}

const linksOf = (page: string): string[] =>
  Array.from(textOf(page).matchAll(/\]\(([^)\s]+)\)/g), ([, target = '']) => target).filter(
    (target) => !/^\w+:/.test(target),
  )

describe('the links between the pages', () => {
  it('are found, with anchors', () => {
    expect(PAGES).toEqual(expect.arrayContaining(['README.md', 'docs/deploy.md']))
    expect(PAGES.flatMap(linksOf).filter((link) => link.includes('#')).length).toBeGreaterThan(20)
    expect(anchorsOf('docs/client.md')).toContain('by-eventsource')
  })

  it.each(PAGES)('of %s lead to a file and to a heading of it', (page) => {
    const dead = linksOf(page).filter((link) => {
      const [path = '', anchor] = link.split('#')
      const file = path === '' ? page : join(dirname(page), path)
      if (!existsSync(file)) return true
      return anchor !== undefined && !anchorsOf(file).includes(anchor)
    })
    expect(dead).toEqual([])
  })
})

describe('the name on npm, which is anybody’s until Signalbox is published', () => {
  const product = sources.map(({ file }) => file)
  const asksNpm = /npx (--yes |-y )?signalbox|npm (install|i|add|link)( -\S+)* signalbox/

  it('is nothing that a page or a message lets npm look up', () => {
    expect(product.length).toBeGreaterThan(200)
    const wrong = [...PAGES, ...product].flatMap((file) =>
      readFileSync(file, 'utf8')
        .split('\n')
        // There npx finds the command of the clone itself.
        .filter((line) => asksNpm.test(line) && !line.includes('clone'))
        .map((line) => `${file}: ${line}`),
    )
    expect(wrong).toEqual([])
  })
})

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
const OWN = ALL.filter((name) => /^(?:docs\/)?[\w-]+\.md$/.test(name) && name !== 'CHANGELOG.md')
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
    expect(OWN).toEqual(expect.arrayContaining([...OF_THE_CODE, 'README.md', 'docs/design.md']))
  })

  it.each(OWN)('%s names only files that exist', (page) => {
    const named = namedIn(page, /`([\w./-]+\.(?:tsx?|sql|css))`/g)
    const isThere = (name: string) => ALL.some((file) => file === name || file.endsWith(`/${name}`))
    expect(named.filter((name) => !isThere(name))).toEqual([])
  })
})
