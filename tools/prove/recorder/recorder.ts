// Writes a history: a line for everything that an outsider sees, in the order in which it is seen.

import { closeSync, openSync, writeSync } from 'node:fs'

export class Recorder {
  #file: number | undefined
  readonly #startedAt = performance.now()

  constructor(file: string) {
    this.#file = openSync(file, 'w')
  }

  /** What is seen after the end is no part of the run. */
  write(line: { kind: string; [name: string]: unknown }): void {
    if (this.#file === undefined) return
    const seen = { t: Math.round(performance.now() - this.#startedAt), ...line }
    // At once: a run that is ended in the middle leaves what it saw.
    writeSync(this.#file, `${JSON.stringify(seen)}\n`)
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file)
    this.#file = undefined
  }
}
