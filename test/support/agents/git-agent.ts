// Works with git, beside the others: commits what is there, goes to the other branch, and throws away
// what stands in the way.

import { setTimeout as sleep } from 'node:timers/promises'
import { git as gitWith } from '../../../tools/harness/git.ts'
import type { Seeded } from '../../../tools/harness/seeded.ts'
import { Agent } from './agent.ts'

const ENV = process.env as Record<string, string>

export const git = (dir: string, ...args: string[]): Promise<string> => gitWith(dir, ENV, ...args)

/** It has no boards. */
export const EMPTY_BRANCH = 'empty'
const MAX_AWAY_MS = 3_000

export class GitAgent extends Agent {
  readonly #dir: string
  #branch = 'main'
  #maySeeNoBoard = true
  #away: Promise<void> = Promise.resolve()

  constructor(dir: string, random: Seeded) {
    super(random)
    this.#dir = dir
  }

  /**
   * Meanwhile the boards are there: what starts without one takes the first that appears for the
   * project's own, so their names would be others.
   */
  async withBoards(work: () => Promise<void>): Promise<void> {
    this.#maySeeNoBoard = false
    await this.#away.catch(() => undefined)
    await this.tidy()
    await work()
    this.#maySeeNoBoard = true
  }

  /** Each of its steps is a burst. */
  override editCalmly(): Promise<void> {
    return Promise.resolve()
  }

  protected async step(): Promise<void> {
    await sleep(this.random.below(2_000))
    try {
      const step = this.random.weighted<() => Promise<unknown>>([
        [5, () => this.#checkout()],
        [
          1,
          () =>
            git(this.#dir, 'stash', '-q', '-u').then(() => git(this.#dir, 'stash', 'pop', '-q')),
        ],
        [1, () => git(this.#dir, 'checkout', '-qf', 'HEAD', '--', '.')],
        [this.#maySeeNoBoard ? 2 : 0, () => this.#leave()],
      ])
      await step()
    } catch (error) {
      // What it wanted to replace was changed meanwhile, or there was nothing to do.
      if (!('stderr' in (error as object))) throw error
    }
  }

  async #checkout(): Promise<void> {
    const other = this.#branch === 'main' ? 'other' : 'main'
    await this.#commit()
    await git(this.#dir, 'checkout', '-qf', other)
    this.#branch = other
  }

  async #commit(): Promise<void> {
    await git(this.#dir, 'add', '-A')
    await git(this.#dir, 'commit', '-q', '--allow-empty', '-m', 'work')
  }

  /** To a branch from before there were boards, and back. */
  #leave(): Promise<void> {
    this.#away = (async () => {
      await this.#commit()
      await git(this.#dir, 'checkout', '-qf', EMPTY_BRANCH)
      await sleep(this.random.below(MAX_AWAY_MS))
      await git(this.#dir, 'checkout', '-qf', this.#branch)
    })()
    return this.#away
  }

  protected override async tidy(): Promise<void> {
    if ((await git(this.#dir, 'branch', '--show-current')) !== EMPTY_BRANCH) return
    await git(this.#dir, 'checkout', '-qf', this.#branch)
  }
}
