// The commands in a linked worktree: the board is that of the main tree.

import { cp, realpath, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { thisBoot } from '../../cli/claim/agent-process.ts'
import { boardElsewhere } from '../../cli/running-system.ts'
import { discoverBoards, keyOf } from '../../sidecar/boards/discover.ts'
import { boardLocks } from '../../system/data/board-lock.ts'
import type { Task } from '../../worker/board/wire.ts'
import { git, initialize } from '../sidecar/git/git-folder.ts'
import { jsonOf } from '../support/json-of.ts'
import { cli, until, useBoardAndEdge } from './board-and-edge.ts'
import { run } from './run.ts'

useBoardAndEdge()

let tree: string
beforeEach(async () => {
  initialize(cli.board)
  tree = join(cli.home, 'feat')
  git(cli.board, 'worktree', 'add', '-q', tree, '-b', 'feat')
  await writeFile(join(tree, '.cairn/tasks/T-2.md'), '---\ntitle: Two\nstatus: done\n---\nbody\n')
})

const read = async <T>(route: string) => jsonOf<T>(await cli.get(route), 200)
const rows = async () => (await read<{ tasks: Task[] }>('tasks')).tasks

async function isPublished() {
  const [one, two] = await rows()
  expect(one).not.toHaveProperty('trees')
  expect(two).toMatchObject({ status: 'open', trees: [{ tree: 'feat', status: 'done' }] })
}

test('sync publishes the board of the main tree, and what the trees changed of it', async () => {
  const env = { ...cli.env(), PATH: process.env.PATH }
  expect(await run(['sync', tree], env)).toMatchObject({ code: 0 })
  await isPublished()
  // Where they are to be left out, it is still that of the main tree.
  expect(await run(['sync', tree, '--no-worktrees'], env)).toMatchObject({ code: 0 })
  expect((await rows()).map(({ status }) => status)).toEqual(['open', 'open'])
  expect((await rows()).flatMap(({ trees }) => trees ?? [])).toEqual([])
})

test('the doctor checks the board of the main tree, and names the trees', async () => {
  const { code, out } = await run(['doctor', tree], cli.env())
  expect(code).toBe(0)
  expect(out).toContain(`cairn in ${await realpath(cli.board)}/.cairn: 2 tasks, 1 configuration.`)
  expect(out).toMatch(new RegExp(`^ok +worktrees +feat in ${await realpath(tree)}\\.$`, 'm'))
})

test('watch publishes the board of the main tree under its name, and a line names each tree', async () => {
  const watch = cli.start(['watch', tree], { SIGNALBOX_LOG: 'json' })
  await until(isPublished)
  const lines = watch
    .logs()
    .split('\n')
    .filter((line) => line.includes('"tree.found"'))
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { tree: 'feat', branch: 'feat', dir: await realpath(tree) },
  ])
  watch.child.kill('SIGTERM')
  expect(await watch.exit).toBe(0)
})

test('a start says once whose board it is, which commands after it do not repeat', async () => {
  const [board, own] = [await realpath(cli.board), await realpath(tree)]
  const what = 'is in a linked worktree: its board is the one of'
  expect(await boardElsewhere(tree)).toBe(`${own} ${what} ${board}.`)
  expect(await boardElsewhere(cli.board)).toBeUndefined()
})

test('in a copy of a worktree a claim or a start says which board to use, and the doctor has a line', async () => {
  const inner = join(cli.board, '.trees/inner')
  git(cli.board, 'worktree', 'add', '-q', inner, '-b', 'inner')
  const copy = join(cli.board, '.trees/copy')
  await cp(inner, copy, { recursive: true })
  const [main, real] = [await realpath(cli.board), await realpath(copy)]
  const why = `${real} is a copy of the linked worktree in ${main}/.trees/inner`
  const said = `${why}, so its board is left out: the board to use is the one of ${main}.`
  const env = { ...cli.env(), PATH: process.env.PATH }
  for (const words of [['claim'], ['wait'], [], ['watch', copy], ['sync', copy]]) {
    const { code, err } = await run(words, env, { cwd: copy })
    expect([words, code, err.includes(said)]).toEqual([words, 1, true])
  }
  const { code, out } = await run(['doctor', cli.board], env)
  expect([code, out.includes(said)]).toEqual([0, true])
})

test('where another Signalbox has the board, a start in a worktree ends after a while and says where that runs', async () => {
  const env = { PATH: process.env.PATH, HOME: cli.home }
  const [dir] = (await discoverBoards([cli.board])).boards
  const other = { env, machine: thisBoot(), dataDir: '/elsewhere', isChosen: false }
  const take = boardLocks({ ...other, notice: () => undefined })
  const release = dir && (await take({ key: keyOf(dir), name: dir.dir }))
  const { code, err } = await run(['--port', '0'], env, { cwd: tree })
  const there = `for the board ${await realpath(cli.board)} (pid ${process.pid}, data in /elsewhere)`
  expect([code, err]).toEqual([1, expect.stringContaining(`${there}: it is left out here.`)])
  if (typeof release === 'function') await release()
})
