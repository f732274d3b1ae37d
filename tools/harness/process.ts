// A process that can be killed, frozen, and started again.

import { untilAnswers, type Wait } from '../../system/until.ts'
import { errorCode } from '../../worker/shared/file-errors.ts'
import { type Child, type ChildSpec, spawnChild } from '../start/child.ts'

/** On a busy machine, too. */
const START_WAIT_MS = 60_000

export class Process implements AsyncDisposable {
  readonly #spec: ChildSpec
  readonly #url: string | undefined
  #child: Child | undefined

  /** It has started when this URL answers; without one, at once. */
  constructor(spec: ChildSpec, url?: string) {
    this.#spec = spec
    this.#url = url
  }

  get logFile(): string {
    return this.#spec.logFile
  }

  /** Throws where it was never started. */
  get pid(): number {
    const pid = this.#child?.pid
    if (pid === undefined) throw new Error(`${this.#spec.name} has no pid`)
    return pid
  }

  async start(): Promise<void> {
    this.#child = spawnChild(this.#spec)
    const url = this.#url
    if (url !== undefined) await this.ready((wait) => untilAnswers(url, wait), START_WAIT_MS)
  }

  /** Rejects, and leaves no process, if it ends before it is ready, or is not so in time. */
  async ready<Value>(until: (wait: Wait) => Promise<Value>, waitMs: number): Promise<Value> {
    const { name: what } = this.#spec
    const over = new AbortController()
    void this.#child?.ended.then(({ code, signal }) => {
      over.abort(new Error(`${what} ended before it was ready: ${code ?? signal}`))
    })
    const signal = AbortSignal.any([over.signal, AbortSignal.timeout(2 * waitMs)])
    try {
      return await until({ what, waitMs, signal })
    } catch (error) {
      await this.kill()
      throw error
    }
  }

  /** SIGKILL. */
  async kill(): Promise<void> {
    this.#child?.kill()
    await this.#child?.ended
  }

  /** SIGSTOP: alive, with open connections, and silent. */
  freeze(): void {
    this.#signal('SIGSTOP')
  }

  thaw(): void {
    this.#signal('SIGCONT')
  }

  async stop(): Promise<void> {
    this.thaw()
    this.#child?.stop()
    await this.#child?.ended
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop()
  }

  #signal(signal: NodeJS.Signals): void {
    if (this.#child?.pid === undefined) return
    try {
      process.kill(this.#child.pid, signal)
    } catch (error) {
      // The process has ended meanwhile.
      if (errorCode(error) !== 'ESRCH') throw error
    }
  }
}
