// One that edits the files of a board, at random, as programs do that are called agents: how often,
// and how a file is saved. The same seed makes the same choices.

import { appendFile, mkdir, rename, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Seeded } from '../../../tools/harness/seeded.ts'

const MAX_PAUSE_MS = 250
const CALM_EDITS = 3
/** Longer than changes are collected for one message. */
const CALM_PAUSE_MS = 250
/** Between the two halves of a file: longer and shorter than changes are collected. */
const MAX_HALF_MS = 300
export const WORDS = [
  'knead',
  'fold',
  'rest',
  'proof',
  'score',
  'bake',
  'cool',
  'slice',
  'wrap',
  'sell',
]

/** One that edits. What it wants to edit may be gone, since the others work as well. */
export abstract class Agent {
  edits = 0
  protected readonly random: Seeded
  #isPaused = false
  #isOver = false
  #step: Promise<void> = Promise.resolve()

  constructor(random: Seeded) {
    this.random = random
  }

  /** One edit. */
  protected abstract step(): Promise<void>

  /** Leaves what its tool can read: a broken file stands for what it said before. */
  protected tidy(): Promise<void> {
    return Promise.resolve()
  }

  async run(): Promise<void> {
    while (!this.#isOver) {
      if (!this.#isPaused) {
        this.#step = this.#tryStep()
        await this.#step
      }
      await sleep(this.random.below(MAX_PAUSE_MS))
    }
  }

  async pause(): Promise<void> {
    this.#isPaused = true
    await this.#step
  }

  /**
   * A few edits, one message each. Under full load a lost change would soon be hidden by a burst,
   * after which everybody reads everything.
   */
  async editCalmly(): Promise<void> {
    for (let n = 0; n < CALM_EDITS; n++) {
      await this.#tryStep()
      await sleep(CALM_PAUSE_MS)
    }
  }

  /** When all are paused. */
  async settle(): Promise<void> {
    await this.tidy()
  }

  resume(): void {
    this.#isPaused = false
  }

  async end(): Promise<void> {
    this.#isOver = true
    await this.#step
  }

  async #tryStep(): Promise<void> {
    try {
      await this.step()
      this.edits++
    } catch (error) {
      const { code = '' } = error as { code?: string }
      if (!LOST_RACES.has(code)) throw error
    }
  }

  protected pick<Value>(values: readonly Value[]): Value | undefined {
    return values[this.random.below(values.length)]
  }

  protected words(): string {
    return `${this.pick(WORDS)} ${this.pick(WORDS)} ${this.random.below(100)}`
  }

  /** As tools, editors and agents save. */
  protected async save(path: string, text: string): Promise<void> {
    const save = this.random.weighted<() => Promise<void>>([
      [4, () => put(path, text)],
      [4, () => this.#over(path, text)],
      [2, () => this.#inHalves(path, text)],
      [1, () => this.#emptied(path, text)],
    ])
    await save()
  }

  async #over(path: string, text: string): Promise<void> {
    const temp = join(dirname(path), `.tmp-${basename(path)}`)
    await put(temp, text)
    await rename(temp, path)
  }

  async #inHalves(path: string, text: string): Promise<void> {
    const middle = this.random.below(text.length)
    await put(path, text.slice(0, middle))
    await sleep(this.random.below(MAX_HALF_MS))
    await appendFile(path, text.slice(middle))
  }

  async #emptied(path: string, text: string): Promise<void> {
    await put(path, '')
    await sleep(this.random.below(MAX_HALF_MS))
    await writeFile(path, text)
  }
}

/** Another agent was faster: the file or folder is gone, or there again. Or it is copied onto itself. */
const LOST_RACES = new Set([
  'ENOENT',
  'ENOTEMPTY',
  'EEXIST',
  'ENOTDIR',
  'EISDIR',
  'ERR_FS_CP_EINVAL',
])

export async function put(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, text)
}
