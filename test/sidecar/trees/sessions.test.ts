// Sessions, heartbeats and runs of a linked worktree, from the files to what a client reads.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { Run, Session } from '../../../worker/board/wire.ts'
import { PATIENT } from '../../support/patience.ts'
import { commitAll, git } from '../git/git-folder.ts'
import type { Files } from '../published-folder.ts'
import { openWithTree, restartWithout } from './open-with-tree.ts'

const CONFIG = 'states: [todo, doing, done]\nclosed: [done]\n'
const FEAT = '../feat/.cairn/'

const ses = (n: number) => `ses_${String(n).padStart(24, '0')}`
const sessionFile = (n: number) => `sessions/${ses(n)}.yaml`
const liveFile = (n: number) => `live/${ses(n)}.json`

const task = (id: string, more = '') => `---\ntitle: ${id}\nstatus: todo\n${more}---\n`
const sessionText = (of: string, { status = 'in_progress', actor = 'ann', branch = 'feat' } = {}) =>
  `task: ${of}\nattempt: one\nactor: ${actor}\nstatus: ${status}\nbranch: ${branch}\n` +
  'started_at: 2026-01-01T10:00:00Z\n'
const heartbeat = () => JSON.stringify({ heartbeatAt: new Date().toISOString() })

const RUN = 'runs/T-1-20260101-100000.000.log'
const SECRET = `ghp_${'a1B2'.repeat(9)}`
const runText = `cmd: make\nexit: 0  timedout: false  duration: 1s\n----\nok ${SECRET}\n`

const BOARD: Files = {
  '.gitignore': '.cairn/live\n.cairn/runs\n',
  '.cairn/config.yaml': CONFIG,
  '.cairn/tasks/T-1.md': task('T-1'),
  [`.cairn/${sessionFile(9)}`]: sessionText('T-1', { status: 'finished', branch: 'main' }),
}

async function open() {
  const { folder, tree } = await openWithTree(BOARD)
  onTestFinished(() => folder.close())
  const sessions = async (query = '') =>
    (await folder.json<{ sessions: Session[] }>(`/sessions${query}`)).sessions
  const shown = async () =>
    Object.fromEntries(
      (await sessions()).map(({ id, tree, health }) => [
        Number(id.slice(4)),
        [tree, health].filter(Boolean).join(' '),
      ]),
    )
  const until = (expected: Record<number, string>) =>
    vi.waitFor(async () => expect(await shown()).toEqual(expected), PATIENT)
  return { folder, tree, sessions, until }
}

test('a session of a tree is listed with it, and its message is that of a session', async () => {
  const { folder, tree, sessions, until } = await open()
  await until({ 9: 'finished' })
  folder.write(FEAT + liveFile(1), heartbeat())
  folder.write(FEAT + sessionFile(1), sessionText('T-1'))
  expect(await folder.received(1)).toEqual([{ type: 'session-changed', session: ses(1) }])
  await until({ 1: 'feat active', 9: 'finished' })
  expect(await sessions('?tree=feat')).toMatchObject([{ id: ses(1), task: 'T-1', tree: 'feat' }])
  const putBack = await restartWithout(folder, tree)
  expect(await sessions('?tree=feat')).toMatchObject([{ id: ses(1), health: 'active' }])
  putBack()
  // The row of the main tree is what its own files say.
  expect((await folder.tasks())['T-1']).toEqual(expect.objectContaining({ ready: true }))
  expect((await folder.tasks())['T-1']).not.toHaveProperty('sessionId')
  folder.write(FEAT + sessionFile(1), sessionText('T-1', { status: 'finished' }))
  await until({ 1: 'feat finished', 9: 'finished' })
  folder.remove(FEAT + sessionFile(1))
  await until({ 9: 'finished' })
})

test('of one id the main tree’s is listed, and what is merely old in a tree is not', async () => {
  const { folder, tree, sessions, until } = await open()
  folder.write(FEAT + sessionFile(1), sessionText('T-1', { actor: 'of the tree' }))
  folder.write(FEAT + liveFile(1), heartbeat())
  await until({ 1: 'feat active', 9: 'finished' })
  folder.write(`.cairn/${sessionFile(1)}`, sessionText('T-1', { actor: 'of main' }))
  await until({ 1: 'active', 9: 'finished' })
  expect((await sessions('?actor=of%20main')).length).toBe(1)
  folder.remove(`.cairn/${sessionFile(1)}`)
  await until({ 1: 'feat active', 9: 'finished' })
  // Merged, it is the main tree's, and still has the heartbeat of the tree.
  git(tree, 'add', '.cairn/sessions')
  git(tree, 'commit', '-qm', 'a session')
  git(folder.dir, 'merge', '-q', 'feat')
  await until({ 1: 'active', 9: 'finished' })
  folder.remove(`.cairn/${sessionFile(9)}`)
  await until({ 1: 'active' })
  git(folder.dir, 'worktree', 'remove', '--force', '../feat')
  await until({ 1: 'stalled' })
})

test('a task that only a tree has is in progress by the session of that tree', async () => {
  const { folder, until } = await open()
  folder.write(`${FEAT}tasks/T-7.md`, task('T-7', 'active_attempt: one\n'))
  folder.write(FEAT + sessionFile(7), sessionText('T-7'))
  folder.write(FEAT + liveFile(7), heartbeat())
  await until({ 7: 'feat active', 9: 'finished' })
  await vi.waitFor(
    async () =>
      expect((await folder.tasks())['T-7']).toMatchObject({
        inMain: false,
        executionState: 'active',
        sessionId: ses(7),
      }),
    PATIENT,
  )
})

test('of two trees that have a session, it is of the one whose branch it ran on', async () => {
  const { folder, tree, until } = await open()
  folder.write(FEAT + sessionFile(3), sessionText('T-1', { status: 'finished' }))
  await until({ 3: 'feat finished', 9: 'finished' })
  commitAll(tree)
  git(folder.dir, 'worktree', 'add', '-q', '../a', '-b', 'a', 'feat')
  await folder.stopSidecar()
  await folder.startSidecar()
  await until({ 3: 'feat finished', 9: 'finished' })
})

test('a run of a tree is listed with it, and counts as a change of its task', async () => {
  const { folder, tree } = await open()
  const path = join(tree, '.cairn', RUN)
  mkdirSync(dirname(path))
  writeFileSync(path, runText)
  expect(await folder.received(1)).toEqual([{ type: 'task-changed', id: 'T-1' }])
  const { runs } = await folder.json<{ runs: Run[] }>('/tasks/T-1/runs')
  expect(runs).toMatchObject([{ cmd: 'make', exit: 0, tree: 'feat', output: 'ok [redacted]\n' }])
  // The same one in the main tree.
  folder.write(`.cairn/${RUN}`, readFileSync(path, 'utf8'))
  await vi.waitFor(async () => {
    const now = await folder.json<{ runs: Run[] }>('/tasks/T-1/runs')
    expect(now.runs).toEqual([expect.not.objectContaining({ tree: 'feat' })])
  }, PATIENT)
})
