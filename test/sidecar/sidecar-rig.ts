// A sidecar over real files, with a watcher and a publisher of the test.

import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, vi } from 'vitest'
import { Board } from '../../sidecar/board/board.ts'
import { FileReader } from '../../sidecar/files/file-reader.ts'
import { HashCache } from '../../sidecar/files/hash-cache.ts'
import { openStore } from '../../sidecar/layouts/registry.ts'
import { type PublishTarget, Sidecar } from '../../sidecar/sidecar.ts'
import type { WatchEvents } from '../../sidecar/watch/watch.ts'
import type { Key } from '../../worker/board/wire.ts'
import { type Clock, hostClock } from '../../worker/shared/clock.ts'
import { PATIENT } from '../support/patience.ts'

export const CONFIG = 'prefix: T\nstates: [todo, done]\nclosed: [done]\n'
export const taskText = (title: string, more = '') =>
  `---\ntitle: ${title}\nstatus: todo\n${more}---\nBody.\n`

export let dir: string
export const path = (...parts: string[]) => join(dir, '.cairn', ...parts)
export const save = (name: string, text: string) => writeFile(path('tasks', name), text)

type CountingClock = Clock & { pending: number; aheadMs?: number }

/** The system's clock, its time of day `aheadMs` ahead. It counts the pending timers. */
export function countingClock(aheadMs = 0): CountingClock {
  const clock = {
    pending: 0,
    aheadMs,
    now: () => hostClock.now() + clock.aheadMs,
    elapsed: hostClock.elapsed,
    random: hostClock.random,
    after(ms: number, then: () => void) {
      clock.pending++
      let isPending = true
      const end = () => {
        if (isPending) clock.pending--
        isPending = false
      }
      const cancel = hostClock.after(ms, () => {
        end()
        then()
      })
      return () => {
        end()
        cancel()
      }
    },
  }
  return clock
}

type Rig = Awaited<ReturnType<typeof openRig>>
let rig: Rig | undefined

interface RigPlan {
  scanEveryMs?: number
  /** The watcher is never ready. */
  isStuck?: boolean
  clock?: CountingClock
}

export async function openRig(plan: RigPlan = {}) {
  const { scanEveryMs = 60_000, clock = countingClock(), isStuck = false } = plan
  const store = await openStore(dir)
  const calls: (string | Key[])[] = []
  const logs: string[] = []
  const reads: string[] = []
  const real = new FileReader({ store, clock, runOutput: 'masked' })
  const read: typeof real.read = (path, known) => {
    reads.push(path)
    return real.read(path, known)
  }
  const board = new Board(store, read)
  const watchers: WatchEvents[] = []
  const refusals: string[] = []
  const publisher: PublishTarget = {
    changed: (keys) => calls.push([...keys].sort((a, b) => (a < b ? -1 : 1))),
    store: ({ state, unwatched }) => calls.push(unwatched ? `${state}, unwatched` : state),
    announce: ({ state }) => calls.push(`announce ${state}`),
    start: () => calls.push('start'),
    close: async () => {
      calls.push('close')
    },
  }
  const log = (_level: string, event: string) => logs.push(event)
  const sidecar = new Sidecar({
    store,
    board,
    read,
    intervalMs: (_workMs, isWatched) => (isWatched ? scanEveryMs : 100),
    watch: async (_store, events) => {
      if (refusals.length > 0) throw new Error(refusals.pop())
      if (isStuck) await new Promise(() => undefined)
      watchers.push(events)
      return { close: () => Promise.resolve() }
    },
    publisher,
    cache: new HashCache(join(dir, 'cache'), store, { version: '0', runOutput: 'masked' }, log),
    clock,
    log,
    version: '0',
  })
  const hint = (...parts: string[]) => watchers.at(-1)?.onHint(path(...parts))
  const gap = () => watchers.at(-1)?.onGap('test')
  const end = new AbortController()
  let running: Promise<void> | undefined
  const start = () => {
    running = sidecar.run(end.signal)
    return sidecar.started
  }
  const stop = async () => {
    end.abort()
    await running
  }
  const started = async () => {
    await start()
    calls.length = 0
    reads.length = 0
    return made
  }
  const made = {
    board,
    calls,
    clock,
    gap,
    hint,
    logs,
    reads,
    refusals,
    start,
    started,
    stop,
    watchers,
  }
  rig = made
  return made
}

export const eventually = (check: () => void) => vi.waitFor(check, { ...PATIENT, interval: 10 })

/** A new board for each test of the calling file. */
export function useBoardFolder(): void {
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'pipeline-'))
    for (const folder of ['tasks', 'sessions', 'live'])
      await mkdir(path(folder), { recursive: true })
    await writeFile(path('config.yaml'), CONFIG)
    await save('A.md', taskText('A'))
  })

  afterEach(async () => {
    await rig?.stop()
    rig = undefined
    await rm(dir, { recursive: true, force: true })
  })
}
