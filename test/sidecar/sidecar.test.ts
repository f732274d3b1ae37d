import { readFile, rename, rm, symlink, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { FakeClock } from '../../libraries/testing/fake-clock.ts'
import { hostClock } from '../../worker/shared/clock.ts'
import {
  CONFIG,
  countingClock,
  dir,
  eventually,
  openRig,
  path,
  save,
  taskText,
  useBoardFolder,
} from './sidecar-rig.ts'

useBoardFolder()

describe('the start', () => {
  test('reads all files, reports the state, and begins the first sync', async () => {
    const { start, calls, board } = await openRig()
    await start()
    expect(calls).toEqual(['present', 'start'])
    expect(await board.read('task:A')).toMatchObject({ task: { title: 'A', ready: true } })
  })

  test('opens no unchanged file after a restart, and has the same sums', async () => {
    await utimes(path('tasks', 'A.md'), 1, 1)
    // Files that were written within the last two seconds are compared by their content.
    const later = () => countingClock(2_100)
    const first = await (await openRig({ clock: later() })).started()
    await first.stop()
    const second = await openRig({ clock: later() })
    await second.start()
    expect(second.reads).toEqual([])
    expect(second.board.root()).toBe(first.board.root())
  })

  test('of a large board that was published before is announced ahead of the scan', async () => {
    const files = Array.from({ length: 1_000 }, (_, n) => save(`B-${n}.md`, taskText('B')))
    await Promise.all(files)
    await (await (await openRig()).started()).stop()
    const { start, calls } = await openRig()
    await start()
    expect(calls).toEqual(['announce present', 'present', 'start'])
  })

  test('finds a file that is saved during the scan', async () => {
    const { start, hint, calls, watchers } = await openRig()
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
    const { hint, calls } = await (await openRig()).started()
    await save('B.md', taskText('B'))
    await save('C.md', taskText('C'))
    hint('tasks', 'B.md')
    hint('tasks', 'C.md')
    hint('tasks', 'B.md')
    await eventually(() => expect(calls).toEqual([['task:B', 'task:C']]))
  })

  test('for files that the layout ignores open no window', async () => {
    const { hint, clock } = await (await openRig()).started()
    const before = clock.pending
    hint('write.lock')
    hint('tasks', '.tmp-1')
    expect(clock.pending).toBe(before)
  })

  test('for a file that was only touched cause no change', async () => {
    const { hint, calls, reads } = await (await openRig()).started()
    hint('tasks', 'A.md')
    await eventually(() => expect(reads).toContain(path('tasks', 'A.md')))
    await new Promise((resolve) => setImmediate(resolve))
    expect(calls).toEqual([])
  })

  test('that are many cause a scan, which finds the rest', async () => {
    const { hint, calls } = await (await openRig()).started()
    for (let i = 0; i < 150; i++) await save(`N-${i}.md`, taskText(`N ${i}`))
    for (let i = 0; i < 120; i++) hint('tasks', `N-${i}.md`)
    await eventually(() => expect(calls.flat()).toHaveLength(150))
    expect(calls).toHaveLength(1)
  })

  test('that the watcher reports as missing cause a scan', async () => {
    const { gap, calls } = await (await openRig()).started()
    await save('B.md', taskText('B'))
    await rm(path('tasks', 'A.md'))
    gap()
    await eventually(() => expect(calls).toEqual([['task:A', 'task:B']]))
  })

  test('that never come are replaced by the periodic scan, and the watcher is started again', async () => {
    let aheadMs = 0
    const clock = countingClock()
    const { elapsed } = clock
    clock.elapsed = () => elapsed() + aheadMs
    const rig = await (await openRig({ scanEveryMs: 100, clock })).started()
    const { calls, logs, watchers } = rig
    await save('B.md', taskText('B'))
    await eventually(() => expect(calls).toEqual([['task:B']]))
    aheadMs = 6_000
    await eventually(() => expect(watchers).toHaveLength(2))
    expect(logs).toContain('watch.missed_events')
  })
})

describe('a watcher', () => {
  test('that cannot be started is replaced by frequent scans', async () => {
    const made = await openRig()
    made.refusals.push('ENOSPC: no watches left')
    const { calls, logs } = await made.started()
    expect(logs).toContain('watch.failed')
    await save('B.md', taskText('B'))
    await eventually(() => expect(calls).toEqual(['present, unwatched', ['task:B']]))
  })

  test('that fails later is replaced by frequent scans, and started again', async () => {
    let aheadMs = 0
    const clock = countingClock()
    const { elapsed } = clock
    clock.elapsed = () => elapsed() + aheadMs
    const { calls, watchers, hint } = await (await openRig({ clock })).started()
    watchers[0]?.onFailed('EMFILE: too many files')
    await save('B.md', taskText('B'))
    await eventually(() => expect(calls).toEqual(['present, unwatched', ['task:B']]))
    expect(watchers).toHaveLength(1)
    aheadMs = 31_000
    await eventually(() => expect(watchers).toHaveLength(2))
    await eventually(() => expect(calls.at(-1)).toBe('present'))
    await save('C.md', taskText('C'))
    hint('tasks', 'C.md')
    await eventually(() => expect(calls.at(-1)).toEqual(['task:C']))
  })

  test('that is stuck while it starts holds up no scan, no change and no end', async () => {
    const rig = await openRig({ isStuck: true })
    const started = rig.start()
    await eventually(() => expect(rig.calls).toContain('start'))
    await save('B.md', taskText('B'))
    await eventually(() => expect(rig.calls).toContainEqual(['task:B']))
    await rig.stop()
    await started
    expect(rig.calls.at(-1)).toBe('close')
  })
})

test('a defect is logged as one, and a scan follows', async () => {
  const { board, hint, calls, logs } = await (await openRig()).started()
  const takeChanged = board.takeChanged.bind(board)
  board.takeChanged = () => {
    board.takeChanged = takeChanged
    throw new TypeError('undefined is not a function')
  }
  await save('B.md', taskText('B'))
  hint('tasks', 'B.md')
  await eventually(() => expect(logs).toContain('sidecar.defect'))
  expect(calls).toEqual([])
  await eventually(() => expect(calls).toEqual([['task:B']]))
})

describe('a half-written file', () => {
  test('is one change, when it is complete', async () => {
    const timers = new FakeClock()
    let since = 0
    const now = () => timers.now() + since
    const { after, elapsed, random } = timers
    const clock = {
      now,
      elapsed,
      after,
      random,
      get pending() {
        return timers.pending
      },
    }
    const { hint, calls, board, reads } = await (await openRig({ clock })).started()
    // Advances from one read to the next only, so that the file stays young.
    const next = async () => {
      const [waitMs = Infinity] = timers.waits
      if (waitMs <= 200) await timers.advance(waitMs)
    }
    await save('A.md', '---\ntitle: "half')
    since = hostClock.now() - timers.now()
    hint('tasks', 'A.md')
    await expect.poll(() => next().then(() => reads.length)).toBe(3)
    expect(calls).toEqual([])
    await save('A.md', taskText('whole'))
    await expect.poll(() => next().then(() => calls)).toEqual([['task:A']])
    expect(await board.read('task:A')).toMatchObject({ task: { title: 'whole' } })
  })

  test('that stays half-written is invalid after a second', async () => {
    const { hint, calls, board } = await (await openRig()).started()
    await save('A.md', '')
    hint('tasks', 'A.md')
    await eventually(() => expect(calls).toEqual([['task:A']]))
    const record = await board.read('task:A')
    expect(record?.kind === 'task' && record.task.invalid).toBeTruthy()
  })
})

describe('a clock that is set', () => {
  test.each([-1, 1])(
    'by a year (%i) delays no hint, no scan and no half-written file',
    async (way) => {
      const clock = countingClock()
      const { hint, calls } = await (await openRig({ clock, scanEveryMs: 200 })).started()
      clock.aheadMs = way * 365 * 86_400_000
      await save('A.md', taskText('B'))
      hint('tasks', 'A.md')
      await eventually(() => expect(calls).toEqual([['task:A']]))
      await save('C.md', taskText('C'))
      await eventually(() => expect(calls).toEqual([['task:A'], ['task:C']]))
      await save('A.md', '')
      hint('tasks', 'A.md')
      await eventually(() => expect(calls).toEqual([['task:A'], ['task:C'], ['task:A']]))
    },
  )
})

describe('a store that is removed', () => {
  test('drops nothing, and is compared with all files when it returns', async () => {
    const { gap, calls, board } = await (await openRig()).started()
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
    // A could not be read meanwhile, so it is published again.
    await eventually(() => expect(calls).toEqual(['missing', 'present', ['task:A', 'task:B']]))
  })

  test('is missing, too, when only its tasks were moved away or are behind a link', async () => {
    const { gap, hint, calls, board } = await (await openRig()).started()
    const root = board.root()
    await rename(path('tasks'), join(dir, 'away'))
    hint('tasks', 'A.md')
    await eventually(() => expect(calls).toEqual(['missing']))
    await symlink(join(dir, 'away'), path('tasks'))
    gap()
    await rm(path('tasks'))
    await rename(join(dir, 'away'), path('tasks'))
    hint('tasks', 'A.md')
    await eventually(() => expect(calls).toEqual(['missing', 'present']))
    expect(board.root()).toBe(root)
  })

  test('does not cause deletions after single hints', async () => {
    const { hint, calls, board } = await (await openRig()).started()
    const root = board.root()
    await rename(path(), join(dir, 'away'))
    hint('tasks', 'A.md')
    await eventually(() => expect(calls).toEqual(['missing']))
    expect(board.root()).toBe(root)
  })
})

test('a session that becomes stalled is a change without a file, with its task', async () => {
  const id = 'ses_0123456789abcdef01234567'
  await writeFile(path('config.yaml'), `${CONFIG}session_stale_after: 1\n`)
  await save('A.md', taskText('A', 'active_attempt: a1\n'))
  const clock = new FakeClock()
  const startedAt = new Date(clock.now()).toISOString()
  const text = `task: A\nattempt: a1\nactor: x\nstatus: active\nstarted_at: ${startedAt}\n`
  await writeFile(path('sessions', `${id}.yaml`), text)
  const { calls, board } = await (await openRig({ clock })).started()
  await clock.advance(1_000)
  expect(calls).toEqual([])
  await expect.poll(() => clock.advance(1).then(() => calls)).toEqual([[`session:${id}`, 'task:A']])
  expect(await board.read('task:A')).toMatchObject({ task: { executionState: 'stalled' } })
})

test('the end publishes saved changes that are not hinted yet', async () => {
  const { stop, calls } = await (await openRig()).started()
  await save('B.md', taskText('B'))
  await stop()
  expect(calls).toEqual([['task:B'], 'close'])
})

test('the end publishes hinted changes, closes the publisher and leaves no timer', async () => {
  const { stop, hint, calls, clock } = await (await openRig()).started()
  await save('B.md', taskText('B'))
  hint('tasks', 'B.md')
  await stop()
  expect(calls).toEqual([['task:B'], 'close'])
  expect(clock.pending).toBe(0)
  expect(await readFile(join(dir, 'cache', 'files.jsonl'), 'utf8')).toContain('tasks/B.md')
})
