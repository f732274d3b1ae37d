// Has Markdown parsed in a worker, one text at a time. A worker that takes too long is ended.

import type { Clock } from '../../../worker/shared/clock.ts'
import type { MarkdownNode } from './markdown-tree.ts'

const DEADLINE_MS = 1_000

/** Undefined: too large or too deep. */
export type MarkdownTree = readonly MarkdownNode[] | undefined

export interface ParserWorker {
  /** Rejects if the parser throws. */
  parse(text: string): Promise<MarkdownTree>
  end(): void
}

interface Deps {
  clock: Clock
  /** A worker that runs: its start is no part of the deadline. */
  startWorker(): Promise<ParserWorker>
}

/**
 * Answers undefined, too, for a text that takes too long or breaks the parser, and for one that is
 * not wanted any more when its turn comes. Rejects if no worker can be started.
 */
export function markdownParser({ clock, startWorker }: Deps) {
  let worker: ParserWorker | undefined
  let last: Promise<unknown> = Promise.resolve()

  async function parse(text: string): Promise<MarkdownTree> {
    worker ??= await startWorker()
    const asked = worker
    return new Promise((resolve) => {
      const fail = () => {
        asked.end()
        worker = undefined
        resolve(undefined)
      }
      const cancel = clock.after(DEADLINE_MS, fail)
      asked.parse(text).then(resolve, fail).finally(cancel)
    })
  }

  return (text: string, wanted: AbortSignal): Promise<MarkdownTree> => {
    const parsed = last.then(() => (wanted.aborted ? undefined : parse(text)))
    last = parsed.catch(() => undefined)
    return parsed
  }
}
