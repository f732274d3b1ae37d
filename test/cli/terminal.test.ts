// No command prints what others named as it is: a terminal would obey it, and a line break would
// forge a line of ours.

import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { cli, until, useBoardAndEdge } from './board-and-edge.ts'
import { run } from './run.ts'

useBoardAndEdge()

/** C0, C1, a change of direction, and what begins a line elsewhere. */
const EVIL = 'a\u001b[2J\u0007\r\u009b31m\u202e\u2066\u2028b\nforged'
const RAW = /[\p{Cc}\u200e\u200f\u2028-\u202e\u2066-\u2069](?<!\n)|^forged/mu

const evilBoard = async (): Promise<string> => {
  const dir = join(cli.home, EVIL)
  const tasks = join(dir, '.cairn/tasks')
  await mkdir(tasks, { recursive: true })
  await writeFile(
    join(dir, '.cairn/config.yaml'),
    'prefix: T\nstates: [open]\nclosed: []\ninitial: open\n',
  )
  const title = JSON.stringify(EVIL)
  await writeFile(join(tasks, 'T-1.md'), `---\ntitle: ${title}\nstatus: ${title}\n---\n`)
  await writeFile(join(tasks, `T-2${EVIL}.md`), `---\ntitle: [\n---\n`)
  return dir
}

test.each([
  ['doctor', (dir: string) => ['doctor', dir]],
  ['doctor with an edge', (dir: string) => ['doctor', dir, '--edge', cli.server.url]],
  ['sync', (dir: string) => ['sync', dir]],
  ['watch without a board', (dir: string) => ['watch', join(dir, 'none')]],
  ['a token with a file of variables', (dir: string) => ['token', '--env', join(dir, 'none')]],
  ['sign-in', (dir: string) => ['sign-in', '--data', dir]],
  ['payments doctor', (dir: string) => ['payments', 'doctor', '--env', join(dir, 'none')]],
  ['payments simulate', () => ['payments', 'simulate', EVIL]],
  ['an unknown command', () => [EVIL]],
  ['an unknown option', () => ['watch', `--${EVIL}`]],
  ['a wrong value', () => ['watch', '--only', EVIL]],
])('%s prints no control characters of names', async (_name, argv) => {
  const { out, err } = await run(argv(await evilBoard()), cli.env())
  expect(out + err).toContain('forged')
  expect(out).not.toMatch(RAW)
  expect(err).not.toMatch(RAW)
})

test.each(['pretty', 'json'])('watch --log %s logs no control characters of names', async (log) => {
  const dir = await evilBoard()
  const { child, exit, logs } = cli.start(['watch', dir, '--log', log])
  await until(() => expect(logs()).toContain('sidecar.ready'))
  child.kill('SIGTERM')
  expect(await exit).toBe(0)
  expect(logs()).not.toMatch(RAW)
})
