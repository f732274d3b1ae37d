import { mkdir, rename, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { cli, until, useBoardAndEdge } from './board-and-edge.ts'
import { run } from './run.ts'

useBoardAndEdge()

const field = async (route: string, name: string) =>
  ((await (await cli.get(route)).json()) as Record<string, unknown>)[name]
const store = () => field('status', 'store')
const tasks = async () => ((await field('tasks', 'tasks')) as unknown[]).length

test('a folder of tasks that is a link is the same for the API, the status, the terminal and the doctor', async () => {
  const watch = cli.start(['watch', cli.board])
  await until(() => expect(watch.logs()).toContain('sidecar.ready'))
  const folder = join(cli.board, '.cairn/tasks')
  await rename(folder, join(cli.board, 'away'))
  await symlink('../away', folder)
  await until(async () => expect(await store()).toBe('missing'))
  expect(await tasks()).toBe(2)
  await until(() =>
    expect(watch.logs()).toMatch(/"store\.missing".*tasks is not a folder but a link/),
  )
  const refusal = `${folder} is a link, and no link within a board is followed`
  const doctor = await run(['doctor', cli.board], cli.env())
  expect([doctor.code, doctor.out]).toEqual([1, expect.stringContaining(refusal)])
  for (const command of ['sync', 'watch']) {
    const { code, err } = await run([command, cli.board], cli.env())
    expect([code, err]).toEqual([2, expect.stringContaining(refusal)])
  }
})

test('a file of all tasks that is renamed away is missing, and there again when it is back', async () => {
  const file = join(cli.home, 'one/.taskmaster/tasks/tasks.json')
  await mkdir(join(file, '..'), { recursive: true })
  await writeFile(join(cli.home, 'one/.taskmaster/config.json'), '{}')
  await writeFile(file, '{"master":{"tasks":[{"id":1,"title":"One","status":"pending"}]}}')
  const watch = cli.start(['watch', join(cli.home, 'one')])
  await until(() => expect(watch.logs()).toContain('sidecar.ready'))
  await rename(file, `${file}.old`)
  await until(async () => expect([await store(), await tasks()]).toEqual(['missing', 1]))
  const sync = await run(['sync', join(cli.home, 'one')], cli.env())
  expect([sync.code, sync.err]).toEqual([1, expect.stringContaining('The store is missing.')])
  expect(await tasks()).toBe(1)
  await rename(`${file}.old`, file)
  await until(async () => expect(await store()).toBe('present'))
})
