// Five agents edit the boards of four tools, while what serves them is killed and stopped. Whenever
// the agents rest, each list, each client and the page must equal the files.
//
// `AGENTS_FOR=30m AGENTS_SEED=7 npx vitest run --project system test/faults/five-agents.test.ts`
// does so for longer, and prints what it saw.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest'
import { formatRoute } from '../../console/address.ts'
import { plainTitle, statusName } from '../../console/board/cards.ts'
import type { ListedBoard } from '../../libraries/api/types.ts'
import { openStore } from '../../sidecar/layouts/registry.ts'
import type { LocalBoard } from '../../system/data/local-json.ts'
import { Seeded } from '../../tools/harness/seeded.ts'
import type { LayoutName, Task } from '../../worker/board/wire.ts'
import { agentsOf, makeProject } from '../support/agents/project.ts'
import { hasChromium, launchChromium } from '../support/chromium.ts'
import { linkOf } from '../support/console-page.ts'
import { FollowingClient } from '../support/following-client.ts'
import { listedStore } from '../support/listed-board.ts'
import { oneProcess, type Start, Starts } from '../support/local-system.ts'
import { PATIENT } from '../support/patience.ts'
import { tempFolder } from '../support/temp-folder.ts'

const TOOLS = ['openspec', 'kiro', 'backlog-md', 'bmad'] as const satisfies LayoutName[]
const { AGENTS_FOR = '20s', AGENTS_SEED = `${Date.now() % 1e9}` } = process.env
const FOR_MS = Number.parseInt(AGENTS_FOR, 10) * (AGENTS_FOR.endsWith('m') ? 60_000 : 1_000)
const SEED = Number(AGENTS_SEED)
/** How long the agents work between two rests. */
const SHORTEST_MS = 3_000
const LONGEST_MS = FOR_MS > 120_000 ? 40_000 : 6_000
/** After a fault, the agents go on for so long. */
const AFTER_FAULT_MS = 1_500

/** One process, and the folder with the boards that it serves. */
class Served {
  readonly dir: string
  readonly agents: ReturnType<typeof agentsOf>
  readonly #starts: Starts
  #start: Start

  private constructor(starts: Starts, start: Start, random: Seeded) {
    this.#starts = starts
    this.#start = start
    this.dir = start.storeDir
    this.agents = agentsOf(this.dir, TOOLS, random)
  }

  static async open(starts: Starts, random: Seeded): Promise<Served> {
    const dir = tempFolder()
    await makeProject(dir, TOOLS)
    const start = await starts.start({ launch: oneProcess, storeDir: dir, port: 'any' })
    return new Served(starts, await start.ready(), random)
  }

  /** Their names are kept over each restart. */
  async boards(): Promise<readonly LocalBoard[]> {
    return (await this.#start.local()).boards
  }

  get link(): string {
    return linkOf(this.#start)
  }

  async ask(route: string, init: RequestInit): Promise<Response> {
    const { url, tokens } = await this.#start.local()
    const headers = { ...(init.headers as object), authorization: `Bearer ${tokens.board}` }
    return await fetch(`${url}/api${route}`, { ...init, headers })
  }

  async again(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    const { dataDir } = this.#start
    const plan = { launch: oneProcess, storeDir: this.dir, dataDir, port: 'last' } as const
    await this.agents.withGit.withBoards(async () => {
      this.#start.process.kill(signal)
      await this.#start.ended
      this.#start = await (await this.#starts.start(plan)).ready()
    })
  }

  async freeze(forMs: number): Promise<void> {
    this.#start.process.kill('SIGSTOP')
    await sleep(forMs)
    this.#start.process.kill('SIGCONT')
  }
}

/** One board, and who looks at it. */
class Board {
  readonly path: string
  readonly layout: LayoutName
  readonly served: Served
  /** Its stream stays open, as long as the edge lives. */
  readonly steady: FollowingClient
  readonly restless: FollowingClient

  constructor(served: Served, { path, layout }: LocalBoard) {
    this.path = path
    this.layout = layout
    this.served = served
    this.steady = new FollowingClient((route, init) => this.#ask(route, init))
    this.restless = new FollowingClient((route, init) => this.#ask(route, init))
  }

  /** What the files say, read anew, without what lists leave out. */
  async files(): Promise<Task[]> {
    const store = await openStore(this.served.dir, { only: [this.layout] })
    const { tasks } = await listedStore(store)
    return inOrder(
      tasks.map(({ body: _, provenance: _p, checks: _c, extra: _e, ...row }) => row as Task),
    )
  }

  async listed(): Promise<Task[]> {
    const response = await this.#ask('/tasks', {})
    return response.ok ? inOrder(((await response.json()) as { tasks: Task[] }).tasks) : []
  }

  /** What the directory of boards says of it. */
  async reported(): Promise<ListedBoard | undefined> {
    const response = await this.served.ask('/boards', {})
    const { boards } = (await response.json()) as { boards: ListedBoard[] }
    return boards.find(({ path }) => path === this.path)
  }

  #ask(route: string, init: RequestInit): Promise<Response> {
    const sign = route.includes('?') ? '&' : '?'
    return this.served.ask(`${route}${sign}path=${encodeURIComponent(this.path)}`, init)
  }
}

const inOrder = (tasks: Iterable<Task>): Task[] =>
  [...tasks].sort((a, b) => (a.id < b.id ? -1 : Number(a.id > b.id)))

/** What a person sees of a task: its column, its id and its title. */
const cardOf = ({ id, title, status }: Task): string =>
  `${statusName(status)} | ${id} | ${plainTitle(title)}`

const inColumns = (tasks: readonly Task[]): string[] => tasks.map(cardOf).sort()

/** The tasks by what they are part of, with how many of them are done. */
function inGroups(tasks: readonly Task[]): string[] {
  const groups = new Map<string, Task[]>()
  const heads = new Set(tasks.map(({ parent }) => parent))
  for (const task of tasks) {
    const { id, parent = '' } = task
    if (parent === '' && heads.has(id)) continue
    groups.set(parent, [...(groups.get(parent) ?? []), task])
  }
  const lines = [...groups].flatMap(([group, own]) => {
    const done = own.filter(({ status }) => status === 'done').length
    return [`${group}: ${done} of ${own.length}`, ...own.map((it) => `${group} | ${cardOf(it)}`)]
  })
  return lines.sort()
}

const READ_COLUMNS = `[...document.querySelectorAll('.column, .lane')].flatMap((place) => {
  const group = place.querySelector('[data-lane]')?.dataset.lane
  const { value, max } = place.querySelector('progress') ?? {}
  const cards = [...place.querySelectorAll('[data-card]')].map((card) => {
    const column = card.closest('.cell, .column').querySelector('h3, h2').textContent
    const shown = [column, card.dataset.card, card.querySelector('.title').textContent]
    return (group === undefined ? shown : [group, ...shown]).join(' | ')
  })
  return group === undefined ? cards : [group + ': ' + value + ' of ' + max, ...cards]
}).sort()`

async function shownOn(page: Page): Promise<string[]> {
  const more = page.locator('.board .more')
  while ((await more.count()) > 0) await more.first().click({ timeout: 1_000 })
  return await page.evaluate(READ_COLUMNS)
}

/** By the keyboard, as a person does who sees another board. */
async function switchTo(page: Page, { path }: Board): Promise<void> {
  await page.keyboard.press('b')
  const list = page.getByRole('dialog', { name: 'Boards' })
  await list.getByRole('searchbox').fill(path)
  await list.getByText(path, { exact: true }).click()
  await list.waitFor({ state: 'hidden' })
}

/** As a link does: without loading the page again. */
async function show(page: Page, { path }: Board, groups: 'on' | 'off'): Promise<void> {
  const hash = formatRoute({ view: 'board', path, query: { folder: 'all', groups } })
  await page.evaluate(`location.hash = ${JSON.stringify(hash)}`)
}

/** What tells an entry whose id another one has. */
const TWIN = /~\d+$/

/**
 * Leaves out rows and lines of ids that several entries claim: which of them has the id depends on
 * which was published first, and the files alone do not say that.
 */
function withoutShared(files: readonly { id: string }[]): (all: unknown) => unknown {
  const bare = (id: string) => id.replace(TWIN, '')
  const shared = new Set(files.filter(({ id }) => bare(id) !== id).map(({ id }) => bare(id)))
  const isShared = (row: unknown) =>
    typeof row === 'string'
      ? row.split(/ \| |: \d+ of /).some((part) => shared.has(bare(part)))
      : shared.has(bare((row as { id: string }).id))
  return (all) => (Array.isArray(all) ? all.filter((row) => !isShared(row)) : all)
}

const starts = new Starts()
let browser: Browser | undefined
beforeAll(async () => {
  if (hasChromium) browser = await launchChromium()
})
/** Agents and clients go on until they are ended. */
const ends: (() => Promise<void>)[] = []
afterEach(async () => {
  await Promise.allSettled(ends.splice(0).map((end) => end()))
  await starts.clear()
})
afterAll(() => browser?.close())

const FAULTS = ['SIGKILL', 'frozen', 'SIGTERM', 'two SIGKILLs', 'none'] as const
/** A tool's list has nothing of these. */
const UNLISTED = new Set(['drafts', 'archive'])
/** A sidecar reports a change of its board at most every 30 s, and one that failed 30 s later. */
const DIRECTORY_WAIT = { ...PATIENT, timeout: 150_000 }

it(
  `each page and client equals the files of five agents, whatever is killed (seed ${SEED})`,
  async () => {
    const random = new Seeded(SEED)
    const served = await Served.open(starts, random.fork())
    const agents = served.agents.all
    const boards = (await served.boards()).map((it) => new Board(served, it))
    expect(boards.map(({ layout }) => layout).sort()).toEqual([...TOOLS].sort())
    const page = browser && (await openPage(browser, served.link))

    for (const agent of agents) ends.push(() => agent.end())
    for (const { steady, restless } of boards) {
      for (const client of [steady, restless]) ends.push(() => client.close())
    }
    const work = Promise.all(agents.map((agent) => agent.run()))
    work.catch(() => undefined)
    const slowest = new Map<string, { ms: number; of: string }>()
    let rests = 0
    for (const from = Date.now(); Date.now() - from < FOR_MS; rests++) {
      const fault = FAULTS[rests % FAULTS.length] ?? 'none'
      const leaving = new AbortController()
      const left = comeAndGo(boards, random.fork(), leaving.signal)
      await sleep(SHORTEST_MS + random.below(LONGEST_MS - SHORTEST_MS))
      await inflict(served, fault)
      await sleep(AFTER_FAULT_MS)
      for (const agent of agents) await agent.pause()
      await Promise.all(agents.map((agent) => agent.editCalmly()))
      for (const agent of agents) await agent.settle()
      leaving.abort()
      await left

      for (const [n, board] of inTurn(boards, rests).entries()) {
        const files = await board.files()
        const unshared = withoutShared(files)
        const equals = async (what: string, read: () => unknown, expected: unknown) => {
          const of = `${board.layout}, rest ${rests} after ${fault}`
          const message = `${what} of ${of}, seed ${SEED}`
          const askedAt = Date.now()
          await expect
            .poll(async () => unshared(await read()), { ...PATIENT, message })
            .toEqual(unshared(expected))
          const ms = Date.now() - askedAt
          if (ms > (slowest.get(what)?.ms ?? 0)) slowest.set(what, { ms, of })
        }
        await equals('the list', () => board.listed(), files)
        await equals('a client that stays', () => inOrder(board.steady.tasks.values()), files)
        await equals('a client that leaves', () => inOrder(board.restless.tasks.values()), files)
        if (!page) continue
        if (n > 0) await switchTo(page, board)
        await show(page, board, 'off')
        await equals('the page', () => shownOn(page).catch(String), inColumns(files))
        if (files.every(({ parent }) => parent === undefined)) continue
        await show(page, board, 'on')
        await equals('the groups', () => shownOn(page).catch(String), inGroups(files))
      }
      for (const agent of agents) agent.resume()
    }
    await Promise.all(agents.map((agent) => agent.end()))
    await work
    for (const agent of agents) await agent.settle()
    for (const board of boards) {
      const same = async () => {
        const rows = await board.listed()
        // Which of several entries with one id the tool counts depends on which came first.
        if (rows.some(({ id }) => TWIN.test(id))) return
        const listed = rows.filter(({ folder }) => !UNLISTED.has(folder ?? ''))
        const ready = listed.filter((task) => task.ready).length
        const reported = (await board.reported())?.counts
        expect(reported).toMatchObject({ tasks: listed.length, ready })
      }
      await vi.waitFor(same, DIRECTORY_WAIT)
    }
    const edits = agents.map((agent) => `${agent.constructor.name} ${agent.edits}`).join(', ')
    const times = Object.fromEntries(slowest)
    console.log(`seed ${SEED}: ${rests} rests; edits: ${edits}; slowest:`, times)
  },
  FOR_MS + 600_000,
)

/** Begins with the one that came last in the turn before: the page has shown it since. */
const inTurn = (boards: readonly Board[], turn: number): Board[] => {
  const at = (boards.length - (turn % boards.length)) % boards.length
  return [...boards.slice(at), ...boards.slice(0, at)]
}

async function openPage(from: Browser, link: string): Promise<Page> {
  const page = await (await from.newContext()).newPage()
  await page.goto(link)
  await page.getByText('Live', { exact: true }).waitFor()
  return page
}

async function inflict(served: Served, fault: (typeof FAULTS)[number]): Promise<void> {
  if (fault === 'frozen') await served.freeze(2_000)
  if (fault === 'SIGKILL' || fault === 'SIGTERM') await served.again(fault)
  if (fault !== 'two SIGKILLs') return
  await served.again('SIGKILL')
  await served.again('SIGKILL')
}

/** Clients lose their connections, some of them for longer than a restart takes. */
async function comeAndGo(boards: readonly Board[], random: Seeded, until: AbortSignal) {
  while (!until.aborted) {
    await sleep(random.below(1_500))
    boards[random.below(boards.length)]?.restless.leave(random.below(4_000))
  }
}
