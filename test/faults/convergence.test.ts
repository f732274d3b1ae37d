// Random faults of files and processes, in any order: a client that only follows signals ends with
// the board that is on the disk.

import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, rename, rm, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, expect, it } from 'vitest'
import { Seeded } from '../../prove/recorder/seeded.ts'
import { type EdgeProcess, startEdge } from '../support/edge-process.ts'
import { PATIENT } from '../support/patience.ts'
import { CONFIG, System, Systems } from '../support/system.ts'
import { ModelClient } from './model-client.ts'

/** Each round: faults for this time, then quiet saves, then the client must equal the files. */
const FAULTS_MS = 7_000
const ROUNDS = 4
/** Longer than a window, so that each save needs its own signal. */
const APART_MS = 250
const SESSION = 'ses_0123456789abcdef01234567'

const systems = new Systems()
let edge: EdgeProcess | undefined
let client: ModelClient | undefined
afterAll(async () => {
  await client?.close()
  await systems.clear()
  await edge?.close()
})

type Row = { title: string; status: string; ready: boolean }

/** The board in the files, read in the simplest way. */
async function onDisk(system: System): Promise<Record<string, Row>> {
  const folder = system.path('.cairn/tasks')
  const names = existsSync(folder) ? await readdir(folder) : []
  const config = await readFile(system.path('.cairn/config.yaml'), 'utf8')
  const closed = /^closed: \[(.*)\]$/m.exec(config)?.[1]?.split(', ') ?? []
  const rows = new Map<string, Row & { dep: string | undefined }>()
  for (const name of names.filter((it) => /^[\w-]+\.md$/.test(it))) {
    const text = await readFile(join(folder, name), 'utf8')
    const field = (key: string) => new RegExp(`^${key}: (.*)$`, 'm').exec(text)?.[1]
    rows.set(name.slice(0, -3), {
      title: field('title') ?? '',
      status: field('status') ?? '',
      dep: field('deps')?.slice(1, -1),
      ready: true,
    })
  }
  const isClosed = (id: string) => closed.includes(rows.get(id)?.status ?? 'none')
  return Object.fromEntries(
    [...rows].map(([id, { title, status, dep }]) => {
      const ready = !isClosed(id) && (dep === undefined || isClosed(dep))
      return [id, { title, status, ready }]
    }),
  )
}

const seenBy = (of: ModelClient): Record<string, Row> =>
  Object.fromEntries(
    [...of.tasks].map(([id, { title, status, ready }]) => [id, { title, status, ready }]),
  )

/** For the message of a failure: how far the change came, and the last output of each part. */
async function progressOf(system: System, by: ModelClient): Promise<string> {
  const tail = (lines: readonly string[]) => lines.slice(-25).join('\n')
  const edge = await system.repo.json('/status').catch((error: unknown) => error)
  return [
    `the edge: ${JSON.stringify(edge)}; the client's wishes: ${by.isIdle ? 'none' : 'some'}`,
    `its last signals:\n${tail(by.signals)}`,
    `the sidecar's log:\n${tail((await system.log()).trimEnd().split('\n'))}`,
  ].join('\n')
}

async function emptyFolder(folder: string): Promise<void> {
  await rm(folder, { recursive: true })
  await mkdir(folder)
}

/** All faults, each often enough in a run. */
class Chaos {
  readonly #system: System
  readonly #edge: EdgeProcess
  readonly #client: ModelClient
  readonly #random: () => number
  readonly done: string[] = []
  #version = 0

  constructor(system: System, on: EdgeProcess, by: ModelClient, random: () => number) {
    this.#system = system
    this.#edge = on
    this.#client = by
    this.#random = random
  }

  async step(): Promise<void> {
    const steps: [weight: number, name: string, run: () => Promise<void>][] = [
      [20, 'save', () => this.save()],
      [6, 'in place', () => this.#inPlace()],
      [4, 'burst', () => this.#burst()],
      [6, 'delete', () => rm(this.#path(), { force: true })],
      [6, 'rename', () => this.#rename()],
      [3, 'touch', () => this.#touch()],
      [4, 'session', () => this.#session()],
      [2, 'rules', () => this.#rules()],
      [5, 'checkout', () => this.#checkout()],
      [2, 'tasks replaced', () => this.#replaceTasks()],
      [3, 'store away', () => this.#away()],
      [4, 'client drops', () => this.#client.drop()],
      [4, 'sidecar killed', () => this.#sidecar(() => this.#system.killSidecar())],
      [2, 'sidecar stopped', () => this.#sidecar(() => this.#system.stopSidecar())],
      [3, 'edge killed', () => this.#edge.crash(() => this.#meanwhile())],
      [1, 'edge emptied', () => this.#emptied()],
    ]
    const row = steps.flatMap(([weight, ...step]) => Array.from({ length: weight }, () => step))
    const [name, run] = row[Math.floor(this.#random() * row.length)] ?? ['save', () => this.save()]
    this.done.push(name)
    await run()
    await sleep(this.#random() < 0.5 ? 0 : this.#random() * 250)
  }

  /** A few that no other round has, so that only one signal can announce each. */
  idsOfRound(round: number): string[] {
    return Array.from({ length: 6 }, (_, n) => `R-${round}-${n}`)
  }

  save(id = this.#id()): Promise<void> {
    return this.#system.save(id, this.#text())
  }

  async #inPlace(): Promise<void> {
    await writeFile(this.#path(), this.#text())
  }

  async #burst(): Promise<void> {
    for (let n = 0; n < 40; n++) await this.save(`T-${n}`)
  }

  async #rename(): Promise<void> {
    const from = this.#path()
    if (existsSync(from)) await rename(from, this.#path())
  }

  async #touch(): Promise<void> {
    const path = this.#path()
    if (existsSync(path)) await utimes(path, new Date(), new Date())
  }

  #session(): Promise<void> {
    const text = `id: ${SESSION}\ntask: T-1\nstatus: finished\nsummary: v${++this.#version}\n`
    return this.#system.write(`.cairn/sessions/${SESSION}.yaml`, text)
  }

  #rules(): Promise<void> {
    const closed = this.#random() < 0.5 ? 'done' : 'done, review'
    const text = CONFIG.replace('closed: [done]', `closed: [${closed}]`)
    return this.#system.write('.cairn/config.yaml', text)
  }

  async #checkout(): Promise<void> {
    await this.#system.git('checkout', '-qf', this.#random() < 0.5 ? 'main' : 'other')
  }

  async #replaceTasks(): Promise<void> {
    await rm(this.#system.path('.cairn/tasks'), { recursive: true })
    await sleep(this.#random() * 50)
    await mkdir(this.#system.path('.cairn/tasks'))
    await this.#burst()
  }

  async #away(): Promise<void> {
    const store = this.#system.path('.cairn')
    await rename(store, this.#system.path('away'))
    await sleep(this.#random() * 600)
    await rename(this.#system.path('away'), store)
  }

  async #sidecar(end: () => Promise<void>): Promise<void> {
    await end()
    await this.#meanwhile()
    await this.#system.startSidecar(this.#random() < 0.5)
  }

  #emptied(): Promise<void> {
    return this.#edge.crash(() => emptyFolder(join(this.#edge.dir, 'objects')))
  }

  async #meanwhile(): Promise<void> {
    for (let n = this.#random() * 5; n > 1; n--) await this.save()
  }

  #text(): string {
    const status = ['open', 'done', 'review'][Math.floor(this.#random() * 3)]
    const deps = this.#random() < 0.3 ? `deps: [${this.#id()}]\n` : ''
    return `---\ntitle: v${++this.#version}\nstatus: ${status}\n${deps}---\n`
  }

  #id(): string {
    return `T-${Math.floor(this.#random() * 25)}`
  }

  #path(): string {
    return this.#system.taskPath(this.#id())
  }
}

it('a client that only follows signals has the board of the files after random faults', async () => {
  const seed = Number(process.env.FAULTS_SEED ?? Math.floor(Math.random() * 1e9))
  const on = await startEdge('workerd')
  edge = on
  const system = await systems.keep(
    System.cairn(on, { 'T-0': '---\ntitle: v0\nstatus: open\n---\n' }),
  )
  await system.git('init', '-q', '-b', 'main')
  await system.git('add', '.')
  await system.git('commit', '-qm', 'main')
  await system.git('checkout', '-qb', 'other')
  for (let n = 0; n < 12; n++) await system.save(`T-${n}`, `---\ntitle: b${n}\nstatus: done\n---\n`)
  await system.git('add', '.')
  await system.git('commit', '-qm', 'other')
  const by = new ModelClient(system.repo)
  client = by
  const random = new Seeded(seed)
  const chaos = new Chaos(system, on, by, () => random.next())
  for (let round = 0; round < ROUNDS; round++) {
    const until = Date.now() + FAULTS_MS
    while (Date.now() < until) await chaos.step()
    // An edge that was emptied is filled at the next change.
    for (const id of chaos.idsOfRound(round)) {
      await chaos.save(id)
      await sleep(APART_MS)
    }
    const expected = await onDisk(system)
    try {
      await expect.poll(() => seenBy(by), PATIENT).toEqual(expected)
    } catch (cause) {
      const said = `seed ${seed}; the last steps were ${chaos.done.slice(-12).join(', ')}`
      throw new Error(`${said}\n${await progressOf(system, by)}`, { cause })
    }
  }
  console.log(`convergence: seed ${seed}, ${chaos.done.length} steps, ${by.signals.length} signals`)
}, 300_000)
