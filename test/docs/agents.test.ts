// The lines of docs/agents.md for an agent's instructions, followed on a board.

import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { run } from '../cli/run.ts'

let lines: string
let dir: string
beforeAll(async () => {
  const page = await readFile('docs/agents.md', 'utf8')
  lines = /```md\n(.*?)```/s.exec(page)?.[1] ?? ''
  dir = await mkdtemp(join(tmpdir(), 'signalbox-agent-'))
  await cp('examples/board', dir, { recursive: true })
})
afterAll(() => rm(dir, { recursive: true }))

/** The commands of the lines, with their placeholders filled in. */
const commands = (filled: Record<string, string>): string[] =>
  [...lines.matchAll(/`signalbox (wait [^`]+)`/g)].map(([, command = '']) =>
    command.replaceAll(/\b(TASK|ID)\b/g, (name) => filled[name] ?? name),
  )

const type = (command: string) => run(command.split(' '), {}, { cwd: dir })

it('They are ten lines, and each command of them runs', async () => {
  expect(lines.split('\n').filter((line) => line !== '').length).toBeLessThanOrEqual(10)
  const none = await type('wait --timeout 1s')
  expect(none.code).toBe(3)
  const { id } = JSON.parse(none.out)
  const [ready = '', status = '', any = ''] = commands({ TASK: 'LAMP-1', ID: id })
  expect(await type(ready)).toMatchObject({ code: 0, err: '' })
  expect(JSON.parse((await type(status)).out)).toMatchObject({ task: 'LAMP-1', status: 'done' })
  expect((await type(`${any} --timeout 1s`)).code).toBe(3)
})

it('An agent works through a board by the first of them alone', async () => {
  const [ready = ''] = commands({})
  const worked: string[] = []
  for (;;) {
    const { code, out } = await type(`${ready} --timeout 2s`)
    if (code === 3) break
    const { task } = JSON.parse(out)
    worked.push(task)
    const file = join(dir, `.cairn/tasks/${task}.md`)
    const text = await readFile(file, 'utf8')
    await writeFile(file, text.replace(/^status: .*/m, 'status: done'))
  }
  // Two others are begun, and what waits for them cannot begin.
  expect(worked).toEqual(['LAMP-5', 'LAMP-6'])
})
