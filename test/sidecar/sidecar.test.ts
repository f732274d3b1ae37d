import { mkdir, mkdtemp, readFile, rename, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { Board } from '../../sidecar/board/board.ts'
import { type Clock, systemClock } from '../../sidecar/clock.ts'
import { createFileReader } from '../../sidecar/files/file-reader.ts'
import { FileTable } from '../../sidecar/files/file-table.ts'
import { HashCache } from '../../sidecar/files/hash-cache.ts'
import { readSource } from '../../sidecar/files/read-source.ts'
import { Scan } from '../../sidecar/files/scan.ts'
import { openStore } from '../../sidecar/layouts/registry.ts'
import { type PublishTarget, Sidecar } from '../../sidecar/sidecar.ts'
import type { WatchEvents } from '../../sidecar/watch/watch.ts'
import type { Key } from '../../worker/board/wire.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { PATIENT } from '../support/patience.ts'

const CONFIG = 'prefix: T\nstates: [todo, done]\nclosed: [done]\n'
const taskText = (title: string, more = '') =>
  `---\ntitle: ${title}\nstatus: todo\n${more}---\nBody.\n`

let dir: string
const path = (...parts: string[]) => join(dir, '.cairn', ...parts)
const save = (name: string, text: string) => writeFile(path('tasks', name), text)

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'pipeline-'))
  for (const folder of ['tasks', 'sessions', 'live']) await mkdir(path(folder), { recursive: true })
  await writeFile(path('config.yaml'), CONFIG)
  await save('A.md', taskText('A'))
})

afterEach(async () => {
  await rig?.stop()
  rig = undefined
  await rm(dir, { recursive: true, force: true })
})

type CountingClock = Clock & { pending: number }

/** The clock of the system, so far ahead, which counts the timers that are pending. */
function countingClock(aheadMs = 0): CountingClock {
  const clock = {
    pending: 0,
    now: () => systemClock.now() + aheadMs,
    after(ms: number, then: () => void) {
      clock.pending++
      let isPending = true
      const end = () => {
        if (isPending) clock.pending--
        isPending = false
      }
      const cancel = systemClock.after(ms, () => {
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

type Rig = Awaited<ReturnType<typeof makeRig>>
let rig: Rig | undefined

interface RigPlan {
  scanEveryMs?: number
  clock?: CountingClock
}

async function makeRig({ scanEveryMs = 60_000, clock = countingClock() }: RigPlan = {}) {
  const store = await openStore(dir)
  const calls: (string | Key[])[] = []
  const logs: string[] = []
  const looked: string[] = []
  const real = createFileReader({ store, readSource, clock, runOutput: 'masked' })
  const read: typeof real = (path, known) => {
    looked.push(path)
    return real(path, known)
  }
  const files = new FileTable()
  const board = new Board(store, read, files)
  const watchers: WatchEvents[] = []
  const refusals: string[] = []
  const publisher: PublishTarget = {
    changed: (keys) => calls.push([...keys].sort((a, b) => (a < b ? -1 : 1))),
    store: ({ state }) => calls.push(state),
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
    files,
    scan: new Scan(store, files),
    intervalMs: (_workMs, isWatched) => (isWatched ? scanEveryMs : 100),
    watch: async (_store, events) => {
      if (refusals.length > 0) throw new Error(refusals.pop())
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
    looked.length = 0
    return made
  }
  const made = {
    board,
    calls,
    clock,
    gap,
    hint,
    logs,
    looked,
    refusals,
    start,
    started,
    stop,
    watchers,
  }
  rig = made
  return made
}

const eventually = (check: () => void) => vi.waitFor(check, { ...PATIENT, interval: 10 })

describe('the start', () => {
  test('reads everything, then tells the state and begins the first sync, and no change', async () => {
    const { start, calls, board } = await makeRig()
    await start()
    expect(calls).toEqual(['present', 'start'])
    expect(await board.read('task:A')).toMatchObject({ task: { title: 'A', ready: true } })
  })

  test('after a restart opens no file that is as it was, and has the same sums', async () => {
    await utimes(path('tasks', 'A.md'), 1, 1)
    // What was written within the last two seconds would be compared by its content again.
    const later = () => countingClock(2_100)
    const first = await (await makeRig({ clock: later() })).started()
    await first.stop()
    const second = await makeRig({ clock: later() })
    await second.start()
    expect(second.looked).toEqual([])
    expect(second.board.root()).toBe(first.board.root())
  })

  test('hears what is saved while it scans', async () => {
    const { start, hint, calls, watchers } = await makeRig()
    const starting = start()
    await eventually(() => expect(watchers).toHaveLength(1))
    await save('B.md', taskText('B'))
    hint('tasks', 'B.md')
    await starting
    await save('B.md', taskText('newer'))
    await eventually(() => expect(calls.at(-1)).toEqual(['task:B']))
  })
})

describe('hints', () => {
  test('of one window are one change', async () => {
    const { hint, calls } = await (await makeRig()).started()
    await save('B.md', taskText('B'))
    await save('C.md', taskText('C'))
    hint('tasks', 'B.md')
    hint('tasks', 'C.md')
    hint('tasks', 'B.md')
    await eventually(() => expect(calls).toEqual([['task:B', 'task:C']]))
  })

  test('of files that the layout ignores open no window', async () => {
    const { hint, clock } = await (await makeRig()).started()
    const before = clock.pending
    hint('write.lock')
    hint('tasks', '.tmp-1')
    expect(clock.pending).toBe(before)
  })

  test('of a file that was only touched tell nothing', async () => {
    const { hint, calls, looked } = await (await makeRig()).started()
    hint('tasks', 'A.md')
    await eventually(() => expect(looked).toContain(path('tasks', 'A.md')))
    await new Promise((resolve) => setImmediate(resolve))
    expect(calls).toEqual([])
  })

  test('that are many are not believed to be all: the rest is found by a scan', async () => {
    const { hint, calls } = await (await makeRig()).started()
    for (let i = 0; i < 150; i++) await save(`N-${i}.md`, taskText(`N ${i}`))
    for (let i = 0; i < 120; i++) hint('tasks', `N-${i}.md`)
    await eventually(() => expect(calls.flat()).toHaveLength(150))
    expect(calls).toHaveLength(1)
  })

  test('that are missing, as the watcher says, are made up for by a scan', async () => {
    const { gap, calls } = await (await makeRig()).started()
    await save('B.md', taskText('B'))
    await rm(path('tasks', 'A.md'))
    gap()
    await eventually(() => expect(calls).toEqual([['task:A', 'task:B']]))
  })

  test('that never come are made up for by the periodic scan, and the watcher is armed anew', async () => {
    const { calls, logs, watchers } = await (await makeRig({ scanEveryMs: 100 })).started()
    await save('B.md', taskText('B'))
    await eventually(() => expect(calls).toEqual([['task:B']]))
    await eventually(() => expect(watchers).toHaveLength(2))
    expect(logs).toContain('watch.deaf')
  }, 15_000)
})

describe('a watcher', () => {
  test('that cannot be started is made up for by frequent scans', async () => {
    const made = await makeRig()
    made.refusals.push('ENOSPC: no watches left')
    const { calls, logs } = await made.started()
    expect(logs).toContain('watch.failed')
    await save('B.md', taskText('B'))
    await eventually(() => expect(calls).toEqual([['task:B']]))
  })

  test('that fails later is made up for by frequent scans, and is started again', async () => {
    let aheadMs = 0
    const clock = countingClock()
    const { now } = clock
    clock.now = () => now() + aheadMs
    const { calls, watchers, hint } = await (await makeRig({ clock })).started()
    await watchers[0]?.onFailed('EMFILE: too many files')
    await save('B.md', taskText('B'))
    await eventually(() => expect(calls).toEqual([['task:B']]))
    expect(watchers).toHaveLength(1)
    aheadMs = 31_000
    await eventually(() => expect(watchers).toHaveLength(2))
    await save('C.md', taskText('C'))
    hint('tasks', 'C.md')
    await eventually(() => expect(calls).toEqual([['task:B'], ['task:C']]))
  })
})

test('a defect ends its turn loudly, and the scan that follows makes up for it', async () => {
  const { board, hint, calls, logs } = await (await makeRig()).started()
  const settle = board.settle.bind(board)
  board.settle = () => {
    board.settle = settle
    throw new TypeError('undefined is not a function')
  }
  await save('B.md', taskText('B'))
  hint('tasks', 'B.md')
  await eventually(() => expect(logs).toContain('sidecar.defect'))
  expect(calls).toEqual([])
  await eventually(() => expect(calls).toEqual([['task:B']]))
})

describe('a half-written file', () => {
  test('is told once, when it is whole', async () => {
    const timers = new FakeClock()
    let since = 0
    const now = () => timers.now() + since
    const { after } = timers
    const clock = {
      now,
      after,
      get pending() {
        return timers.pending
      },
    }
    const { hint, calls, board, looked } = await (await makeRig({ clock })).started()
    // Moves on from one look to the next, and in no other way: the file stays young.
    const next = async () => {
      const [waitMs = Infinity] = timers.waits
      if (waitMs <= 200) await timers.advance(waitMs)
    }
    await save('A.md', '---\ntitle: "half')
    since = systemClock.now() - timers.now()
    hint('tasks', 'A.md')
    await expect.poll(() => next().then(() => looked.length)).toBe(3)
    expect(calls).toEqual([])
    await save('A.md', taskText('whole'))
    await expect.poll(() => next().then(() => calls)).toEqual([['task:A']])
    expect(await board.read('task:A')).toMatchObject({ task: { title: 'whole' } })
  })

  test('that stays so is listed as invalid after a second', async () => {
    const { hint, calls, board } = await (await makeRig()).started()
    await save('A.md', '')
    hint('tasks', 'A.md')
    await eventually(() => expect(calls).toEqual([['task:A']]))
    const record = await board.read('task:A')
    expect(record?.kind === 'task' && record.task.invalid).toBeTruthy()
  })
})

describe('a store that goes missing', () => {
  test('drops nothing, and is compared whole when it returns', async () => {
    const { gap, calls, board } = await (await makeRig()).started()
    const root = board.root()
    await board.read('task:A')
    await rename(path(), join(dir, 'away'))
    gap()
    await eventually(() => expect(calls).toEqual(['missing']))
    expect(board.root()).toBe(root)
    await expect(board.read('task:A')).rejects.toMatchObject({ code: 'record_unreadable' })
    await rename(join(dir, 'away'), path())
    await save('B.md', taskText('B'))
    gap()
    // A was asked for in vain meanwhile, so it is told again beside what is new.
    await eventually(() => expect(calls).toEqual(['missing', 'present', ['task:A', 'task:B']]))
  })

  test('does not look like deletions to single hints either', async () => {
    const { hint, calls, board } = await (await makeRig()).started()
    const root = board.root()
    await rename(path(), join(dir, 'away'))
    hint('tasks', 'A.md')
    await eventually(() => expect(calls).toEqual(['missing']))
    expect(board.root()).toBe(root)
  })
})

test('a session turns stalled without a file changing, and is told with its task', async () => {
  const id = 'ses_0123456789abcdef01234567'
  await writeFile(path('config.yaml'), `${CONFIG}session_stale_after: 1\n`)
  await save('A.md', taskText('A', 'active_attempt: a1\n'))
  const startedAt = new Date(systemClock.now() + 500).toISOString()
  const text = `task: A\nattempt: a1\nactor: x\nstatus: active\nstarted_at: ${startedAt}\n`
  await writeFile(path('sessions', `${id}.yaml`), text)
  const { calls, board } = await (await makeRig()).started()
  await eventually(() => expect(calls).toEqual([[`session:${id}`, 'task:A']]))
  expect(await board.read('task:A')).toMatchObject({ task: { executionState: 'stalled' } })
})

test('the end tells what was saved and not hinted yet', async () => {
  const { stop, calls } = await (await makeRig()).started()
  await save('B.md', taskText('B'))
  await stop()
  expect(calls).toEqual([['task:B'], 'close'])
})

test('the end tells what was hinted, closes the publisher and leaves no timer', async () => {
  const { stop, hint, calls, clock } = await (await makeRig()).started()
  await save('B.md', taskText('B'))
  hint('tasks', 'B.md')
  await stop()
  expect(calls).toEqual([['task:B'], 'close'])
  expect(clock.pending).toBe(0)
  expect(await readFile(join(dir, 'cache', 'files.jsonl'), 'utf8')).toContain('tasks/B.md')
})
