// Works on the checklists of OpenSpec and Kiro: a folder for each change.

import { cp, mkdir, readdir, readFile, rename, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { Seeded } from '../../../tools/harness/seeded.ts'
import { Agent, WORDS } from './agent.ts'

/** The page shows fifty cards of a column at first, and a person's boards are not huge. */
const MOST_FOLDERS = 6
const MOST_LINES = 14
/** Never removed: on a board without it most messages would be `tasks-changed`. */
export const KEPT = 'menu'
export const KEPT_LINES = 40

interface ListTool {
  marks: readonly string[]
  description: string
  heading: string
  archive?: string
}
export const OPENSPEC: ListTool = {
  marks: [' ', ' ', 'x', 'x', 'X', '~'],
  description: 'proposal.md',
  heading: '# Change: ',
  archive: 'archive',
}
export const KIRO: ListTool = {
  marks: [' ', 'x', 'x', '-', '~'],
  description: 'requirements.md',
  heading: '# Requirements of ',
}
const BOX = /^(\s*[-*] )\[.?\]/

export class ListAgent extends Agent {
  readonly #dir: string
  readonly #tool: ListTool

  constructor(dir: string, tool: ListTool, random: Seeded) {
    super(random)
    this.#dir = dir
    this.#tool = tool
  }

  protected async step(): Promise<void> {
    const names = (await readdir(this.#dir)).filter((name) => name !== this.#tool.archive)
    const name = this.pick(names)
    if (name === undefined) return this.#add()
    const place = join(this.#dir, name)
    const list = join(place, 'tasks.md')
    if (name === KEPT) return this.#editOne(list)
    const step = this.random.weighted<() => Promise<void>>([
      [10, () => this.#edit(list, (lines) => this.#check(lines))],
      [4, () => this.#edit(list, (lines) => this.#insert(lines))],
      [3, () => this.#edit(list, (lines) => this.#remove(lines))],
      [3, () => this.#edit(list, (lines) => this.#swap(lines))],
      [
        2,
        () =>
          this.save(join(place, this.#tool.description), `${this.#tool.heading}${this.words()}\n`),
      ],
      [2, () => (names.length < MOST_FOLDERS ? this.#add() : rm(place, { recursive: true }))],
      [1, () => rename(place, join(this.#dir, this.#name()))],
      [1, () => this.#archive(place)],
      [1, () => rm(join(place, this.#tool.description))],
      [1, () => this.#strange(list)],
    ])
    await step()
  }

  #editOne(list: string): Promise<void> {
    return this.random.weighted<() => Promise<void>>([
      [3, () => this.#edit(list, (lines) => this.#check(lines))],
      [2, () => this.#edit(list, (lines) => this.#insert(lines, KEPT_LINES))],
      [1, () => this.#edit(list, (lines) => this.#swap(lines))],
    ])()
  }

  #name(): string {
    return `${this.pick(WORDS)}-${this.random.below(9)}`
  }

  async #add(): Promise<void> {
    const lines = ['## 1. First', '', ...Array.from({ length: 4 }, (_, n) => this.#line(n))]
    await this.save(join(this.#dir, this.#name(), 'tasks.md'), `${lines.join('\n')}\n`)
  }

  #line(number: number): string {
    const indent = this.random.below(4) === 0 ? '  ' : ''
    const name = this.random.below(4) === 0 ? '' : `1.${number} `
    return `${indent}- [${this.pick(this.#tool.marks)}] ${name}${this.words()}`
  }

  async #edit(list: string, change: (lines: string[]) => void): Promise<void> {
    const lines = (await readFile(list, 'utf8')).split('\n')
    change(lines)
    await this.save(list, lines.join('\n'))
  }

  #check(lines: string[]): void {
    const at = this.pick(lines.flatMap((line, n) => (BOX.test(line) ? [n] : []))) ?? 0
    lines[at] = lines[at]?.replace(BOX, `$1[${this.pick(this.#tool.marks)}]`) ?? ''
  }

  #insert(lines: string[], most = MOST_LINES): void {
    if (lines.length > most) this.#remove(lines)
    else lines.splice(this.random.below(lines.length), 0, this.#line(this.random.below(12)))
  }

  #remove(lines: string[]): void {
    lines.splice(this.random.below(lines.length), 1)
  }

  #swap(lines: string[]): void {
    const [one, other] = [this.random.below(lines.length), this.random.below(lines.length)]
    const line = lines[one] ?? ''
    lines[one] = lines[other] ?? ''
    lines[other] = line
  }

  /** To the archive of the tool; without one, a copy under another name. */
  async #archive(place: string): Promise<void> {
    const { archive } = this.#tool
    if (archive === undefined) {
      return cp(place, join(this.#dir, this.#name()), { recursive: true })
    }
    const folder = join(this.#dir, archive)
    await mkdir(folder, { recursive: true })
    const archived = await readdir(folder)
    const oldest = archived.length > 2 ? this.pick(archived) : undefined
    if (oldest !== undefined) await rm(join(folder, oldest), { recursive: true })
    await rename(place, join(folder, `2026-01-0${1 + this.random.below(9)}-${basename(place)}`))
  }

  /** Valid for the tool, and easily misread by a parser. */
  async #strange(list: string): Promise<void> {
    const text = await readFile(list, 'utf8')
    const other = this.pick([
      text.replaceAll(/\r?\n/g, '\r\n'),
      text.replaceAll('\r\n', '\n'),
      `${text}\`\`\`\n- [ ] 9.9 in a fence\n\`\`\`\n`,
      text.replace(/\n$/, ''),
      `\uFEFF${text}`,
      `${text}- [ ] 1.1 ${this.words()}\n`,
    ])
    if (text.length < 2_000) await this.save(list, other ?? text)
  }
}
