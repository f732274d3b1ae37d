// Time: slow writers, writers that never pause, and data that must be readable before its signal.
// Nothing here asserts how long something took.

import { appendFile, truncate, writeFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import type { Task } from '../../worker/board/wire.ts'
import { type EdgeProcess, startEdge } from '../support/edge-process.ts'
import { PATIENT } from '../support/patience.ts'
import { System, Systems, taskText } from '../support/system.ts'

let edge: EdgeProcess
const systems = new Systems()
beforeAll(async () => {
  edge = await startEdge('workerd')
})
afterEach(() => systems.clear())
afterAll(() => edge.close())

const board = (text = taskText('v0')) => systems.keep(System.cairn(edge, { A: text, B: text }))

/** The versions of a task that a client gets which refetches at every signal, in order. */
async function refetches(system: System, id: string) {
  const stream = await (await system.repo.stream()).joined()
  const seen: Task[] = []
  let isOver = false
  const following = (async () => {
    for (let told = 0; !isOver; await sleep(2)) {
      for (; told < stream.messages.length; told++)
        seen.push(await system.repo.json(`/tasks/${id}`))
    }
  })()
  const end = async () => {
    isOver = true
    await following
    await stream.close()
  }
  return { seen, stream, end }
}

/** The sidecar waits a second for a writer, so a test that itself was slower proves nothing. */
const PAUSE_MS = 300
const MAX_MS = 900

/**
 * Writes the task in two steps, and repeats this if it took too long. Returns what a client saw of
 * the task until `isWhole`.
 */
async function seenOfTwoSteps(
  before: string,
  [first, then]: readonly [(path: string) => Promise<void>, (path: string) => Promise<void>],
  isWhole: (task: Task) => boolean,
): Promise<Task[]> {
  for (;;) {
    const system = await board(before)
    const { seen, end } = await refetches(system, 'A')
    const path = system.taskPath('A')
    const from = performance.now()
    await first(path)
    await sleep(PAUSE_MS)
    await then(path)
    const tookMs = performance.now() - from
    await system.untilTask('A', isWhole)
    await expect.poll(() => seen.some(isWhole)).toBe(true)
    await end()
    if (tookMs < MAX_MS) return seen
  }
}

it('a file that is emptied and written again 300 ms later is never published as invalid', async () => {
  const after = taskText('after', '', 'body after')
  const seen = await seenOfTwoSteps(
    taskText('before', '', 'body before'),
    [(path) => truncate(path), (path) => writeFile(path, after)],
    ({ title, body }) => title === 'after' && body === 'body after',
  )
  expect(seen.map(({ invalid }) => invalid).filter(Boolean)).toEqual([])
})

it('a file that is written in two halves, 300 ms apart, is never published as invalid', async () => {
  const text = taskText('whole', 'priority: high\n', 'the body')
  const middle = text.indexOf('priority')
  const seen = await seenOfTwoSteps(
    taskText('v0'),
    [
      (path) => writeFile(path, text.slice(0, middle)),
      (path) => appendFile(path, text.slice(middle)),
    ],
    ({ priority, body }) => priority === 'high' && body === 'the body',
  )
  expect(seen.map(({ invalid }) => invalid).filter(Boolean)).toEqual([])
})

it('a file that stays incomplete is published as invalid, and corrected when it is complete', async () => {
  const system = await board()
  await writeFile(system.taskPath('A'), '---\ntitle: half')
  // On a machine that pauses before it writes the text, it is an empty file until then.
  await system.untilTask('A', ({ invalid }) => invalid?.includes('no closing') === true)
  await appendFile(system.taskPath('A'), '\nstatus: open\n---\n')
  const whole = await system.untilTask('A', ({ title }) => title === 'half')
  expect(whole.invalid).toBeUndefined()
})

it('a writer that saves every 50 ms without a pause is published, at most once per window', async () => {
  const system = await board()
  const stream = await (await system.repo.stream()).joined()
  let saves = 0
  for (; stream.messages.length < 4; await sleep(50)) {
    await system.save('A', taskText(`v${++saves}`))
  }
  await system.untilTask('A', ({ title }) => title === `v${saves}`)
  expect(stream.messages.length).toBeLessThanOrEqual(saves)
  expect(new Set(stream.messages.map((it) => JSON.stringify(it)))).toEqual(
    new Set(['{"type":"task-changed","id":"A"}']),
  )
  await stream.close()
})

it('a signal never comes before its data: the edge has that version or a newer one', async () => {
  const system = await board()
  const stream = await (await system.repo.stream()).joined()
  // The version that the edge has of a task when its signal comes can only rise.
  let version = 0
  let told = 0
  const versions: number[] = []
  const check = async () => {
    for (; told < stream.messages.length; told++) {
      const { title } = await system.repo.json<Task>('/tasks/A')
      versions.push(Number(title.slice(1)))
    }
  }
  for (let round = 0; round < 15; round++) {
    await system.save('A', taskText(`v${++version}`))
    // The signal after a quiet window is this save's: its data must be this save's too.
    await stream.until((s) => s.messages.length > told)
    await check()
    expect(versions.at(-1)).toBe(version)
  }
  // And while others save in between.
  for (let round = 0; round < 40; round++) {
    await system.save('A', taskText(`v${++version}`))
    await system.save('B', taskText(`v${version}`))
    await sleep(20)
    await check()
  }
  const newest = async () => {
    await check()
    return versions.at(-1)
  }
  await expect.poll(newest, PATIENT).toBe(version)
  expect(versions).toEqual(versions.toSorted((a, b) => a - b))
  await stream.close()
})

it('a touch, a rewrite of the same bytes, and other files send no signal', async () => {
  const system = await board()
  const stream = await (await system.repo.stream()).joined()
  for (let round = 0; round < 10; round++) {
    await system.save('A', taskText('v0'))
    await system.write('.cairn/write.lock', `${round}`)
    await system.write('.cairn/tasks/.tmp-x', `${round}`)
    await system.write('.cairn/notes.txt', `${round}`)
    await sleep(60)
  }
  await system.save('B', taskText('a real change'))
  await stream.until((s) => s.messages.length > 0)
  expect(stream.messages).toEqual([{ type: 'task-changed', id: 'B' }])
  await stream.close()
})
