// Works on the files of Backlog.md, whose names have the titles of the tasks.

import { mkdir, readdir, readFile, rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { Seeded } from '../../../tools/harness/seeded.ts'
import { Agent, put, WORDS } from './agent.ts'

export const BACKLOG_CONFIG =
  'project_name: Bakery\ntask_prefix: back\nstatuses: ["To Do", "In Progress", "Done"]\n'

export const backlogTask = (id: string, title: string, status: string, more = '') =>
  `---\nid: ${id}\ntitle: ${title}\nstatus: ${status}\n${more}---\nFlour.\n`

/** As many stay. */
export const KEPT_TASKS = 40
const BACKLOG_STATUSES = ['To Do', 'In Progress', 'Done']
const BACKLOG_FOLDERS = ['tasks', 'tasks', 'tasks', 'completed', 'drafts', 'archive/tasks']

export class BacklogAgent extends Agent {
  readonly #dir: string
  #next = 1_000

  constructor(dir: string, random: Seeded) {
    super(random)
    this.#dir = dir
  }

  protected async step(): Promise<void> {
    const names = await readdir(join(this.#dir, 'tasks')).catch(() => [])
    const name = this.pick(names.filter((it) => !it.startsWith('.')))
    if (name === undefined || names.length < 3) return this.#add()
    const path = join(this.#dir, 'tasks', name)
    const step = this.random.weighted<() => Promise<void>>([
      [8, () => this.#edit(path, 'status', this.pick(BACKLOG_STATUSES) ?? '')],
      [3, () => this.#edit(path, 'labels', `[${this.pick(WORDS)}, ${this.pick(WORDS)}]`)],
      [3, () => this.#edit(path, 'dependencies', `[BACK-${this.random.below(KEPT_TASKS)}]`)],
      [3, () => this.#retitle(path)],
      [4, () => (names.length < KEPT_TASKS ? this.#add() : rm(path))],
      [2, () => this.#move(path)],
      [1, () => this.save(path, `---\nid: BACK-1\ntitle: [${this.words()}\n---\n`)],
      [1, () => this.save(join(this.#dir, 'config.yml'), this.#config())],
    ])
    await step()
  }

  protected override tidy(): Promise<void> {
    return put(join(this.#dir, 'config.yml'), BACKLOG_CONFIG)
  }

  #config(): string {
    return this.random.below(2) === 0
      ? BACKLOG_CONFIG
      : BACKLOG_CONFIG.replace('"Done"', '"Review", "Done"')
  }

  async #add(): Promise<void> {
    const id = `BACK-${this.#next++}`
    const title = this.words()
    const path = join(this.#dir, 'tasks', `${id.toLowerCase()} - ${title}.md`)
    await this.save(path, backlogTask(id, title, 'To Do'))
  }

  async #edit(path: string, field: string, value: string): Promise<void> {
    const text = await readFile(path, 'utf8')
    const line = new RegExp(`^${field}: .*$`, 'm')
    const isThere = line.test(text)
    const added = text.replace(/^status: /m, `${field}: ${value}\nstatus: `)
    await this.save(path, isThere ? text.replace(line, `${field}: ${value}`) : added)
  }

  /** Two paths, one id: the new file first, or the old one away first. */
  async #retitle(path: string): Promise<void> {
    const title = this.words()
    const [, name = ''] = /^(\w+-\d+)/.exec(basename(path)) ?? []
    const text = (await readFile(path, 'utf8')).replace(/^title: .*$/m, `title: ${title}`)
    const next = join(dirname(path), `${name} - ${title}.md`)
    if (this.random.below(2) === 0) await rename(path, next)
    await this.save(next, text)
    await rm(path, { force: true })
  }

  async #move(path: string): Promise<void> {
    const to = join(this.#dir, this.pick(BACKLOG_FOLDERS) ?? 'tasks')
    await mkdir(to, { recursive: true })
    const there = await readdir(to)
    const old = there.length > 8 ? this.pick(there) : undefined
    if (old !== undefined) await rm(join(to, old))
    await rename(path, join(to, basename(path)))
  }
}
