// Works on the statuses of a sprint of BMAD, and on the files of its stories.

import { readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Seeded } from '../../../tools/harness/seeded.ts'
import { Agent, put, WORDS } from './agent.ts'

const MOST_STORIES = 60
const STORY_STATUSES = ['backlog', 'ready-for-dev', 'in-progress', 'review', 'done', 'drafted', 'x']
/** A line that its tool can read: a file that others replaced half-way has other ones, too. */
const LINE = /^ {2}([\w-]+): [\w-]+(?= #|$)/

export class BmadAgent extends Agent {
  readonly #dir: string
  readonly #sprint: string

  constructor(dir: string, random: Seeded) {
    super(random)
    this.#dir = dir
    this.#sprint = join(dir, 'sprint-status.yaml')
  }

  protected async step(): Promise<void> {
    const lines = (await readFile(this.#sprint, 'utf8')).trimEnd().split('\n')
    const keys = lines.flatMap((line) => LINE.exec(line)?.[1] ?? [])
    const story = this.pick(keys.filter((key) => /^\d/.test(key))) ?? '1-1-dough'
    const file = join(this.#dir, `${story}.md`)
    const status = this.pick(STORY_STATUSES) ?? ''
    const step = this.random.weighted<() => Promise<void>>([
      [
        8,
        () =>
          this.#write(lines.map((line) => line.replace(`${story}: `, `${story}: ${status} # `))),
      ],
      [4, () => this.#add(lines, keys)],
      [2, () => this.#write(lines.filter((line) => !line.includes(`${story}:`)))],
      [2, () => this.#write([...lines.slice(0, 1), ...lines.slice(1).reverse()])],
      [3, () => this.save(file, `# Story ${this.words()}\n\nStatus: ${status}\n\n- [ ] Knead\n`)],
      [1, () => rm(file)],
      [1, () => rename(file, join(this.#dir, `1-${this.random.below(9)}-${this.pick(WORDS)}.md`))],
      [1, () => this.#break(lines)],
    ])
    await step()
  }

  protected override async tidy(): Promise<void> {
    await put(this.#sprint, `${this.#lines(await readFile(this.#sprint, 'utf8')).join('\n')}\n`)
  }

  #lines(text: string): string[] {
    const seen = new Map(
      text.split('\n').flatMap((line): [string, string][] => {
        const key = LINE.exec(line)?.[1]
        return key === undefined ? [] : [[key, line.replace(/ # .*/, '')]]
      }),
    )
    return [
      'development_status:',
      ...seen.values(),
      ...(seen.size === 0 ? ['  epic-1: backlog'] : []),
    ]
  }

  #write(lines: readonly string[]): Promise<void> {
    return this.save(this.#sprint, `${this.#lines(lines.join('\n')).join('\n')}\n`)
  }

  /** For a while, its tool can read nothing. */
  async #break(lines: readonly string[]): Promise<void> {
    await this.save(this.#sprint, 'development_status: [not a map\n')
    await this.#write(lines)
  }

  async #add(lines: readonly string[], keys: readonly string[]): Promise<void> {
    const epic = 1 + this.random.below(4)
    const key = `${epic}-${this.random.below(20)}-${this.pick(WORDS)}`
    if (keys.length > MOST_STORIES) return this.#write(lines.filter((_, n) => n % 10 > 0))
    const isKnown = keys.includes(`epic-${epic}`)
    const more = isKnown ? [] : [`  epic-${epic}: in-progress`]
    await this.#write([...lines, ...more, `  ${key}: backlog`])
  }
}
