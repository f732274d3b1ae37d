// A board that is followed, at an edge or among files: its steps, and what is read of it.

import { EventEmitter, on } from 'node:events'
import type { Config } from '../../worker/board/tasks/free-tasks.ts'
import type { Task } from '../../worker/board/wire.ts'

/** Something that was read, and the place in the board's history that it certainly includes. */
export interface Placed<Value> {
  /** Undefined: not known. */
  id: string | undefined
  value: Value
}

export interface Step {
  /** The place after it. */
  id: string
  /** Absent: no task changed. Its `task` is the only one that did; without: several, or more. */
  changed?: { task?: string }
}

export interface WatchedBoard {
  /** In order and without a gap, from the place that the wait goes on from, else from now on. */
  steps: AsyncIterable<Step>
  task(id: string): Promise<Placed<Task | undefined>>
  /** What changed after this place; undefined: all there is. May be more, and is never less. */
  changedAfter(place: string | undefined): Promise<Placed<Changed>>
  about(): Promise<About>
}

export interface About {
  /** Absent: not known. */
  config?: Config | undefined
  /** Its folder is: what was read of it stays. */
  isGone: boolean
}

/** `ids`: all that changed or went; undefined: `rows` are all that there are. */
export interface Changed {
  rows: readonly Task[]
  ids: ReadonlySet<string> | undefined
}

/** Steps as they happen, kept until they are taken. Iterating rejects once the signal aborts. */
export function stepFeed(signal: AbortSignal) {
  const events = new EventEmitter()
  const taken = on(events, 'step', { signal })
  async function* steps(): AsyncIterable<Step> {
    for await (const [step] of taken) yield step as Step
  }
  return {
    steps: steps(),
    add: (step: Step) => void events.emit('step', step),
    fail(error: unknown) {
      // An error that nobody waits for would end the process.
      if (!signal.aborted) events.emit('error', error)
    },
  }
}
