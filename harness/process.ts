// A process that can be killed, frozen, and started again.

import { type Child, type ChildSpec, spawnChild } from '../local/child.ts'

export class Process {
  readonly #spec: ChildSpec
  readonly #ready: () => Promise<void>
  #child: Child | undefined

  /** `ready` resolves when the process answers. */
  constructor(spec: ChildSpec, ready: () => Promise<void>) {
    this.#spec = spec
    this.#ready = ready
  }

  get logFile(): string {
    return this.#spec.logFile
  }

  async start(): Promise<void> {
    this.#child = spawnChild(this.#spec)
    await this.#ready()
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

  #signal(signal: NodeJS.Signals): void {
    const pid = this.#child?.pid
    if (pid === undefined) return
    try {
      process.kill(pid, signal)
    } catch (error) {
      // The process has ended meanwhile.
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
    }
  }
}
