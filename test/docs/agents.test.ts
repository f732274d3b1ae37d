// The lines of docs/agents.md for an agent's instructions, followed on a board.

import { spawnSync } from 'node:child_process'
import { cp, readFile } from 'node:fs/promises'
import { beforeAll, expect, it } from 'vitest'
import { inputOf, run } from '../cli/run.ts'
import { tempFolder } from '../support/temp-folder.ts'

let page: string
let dir: string
beforeAll(async () => {
  page = await readFile('docs/agents.md', 'utf8')
  dir = tempFolder()
  await cp('examples/board', dir, { recursive: true })
})

const linesAt = (n: number): string => [...page.matchAll(/```md\n(.*?)```/gs)][n]?.[1] ?? ''

/** The commands of the lines, with their placeholders filled in. */
const commands = (lines: string, filled: Record<string, string> = {}): string[] =>
  [...lines.matchAll(/`signalbox ([^`]+)`/g)].map(([, command = '']) =>
    command.replaceAll(/\b(TASK|ID)\b/g, (name) => filled[name] ?? name),
  )

const type = (command: string) => run(command.split(' '), {}, { cwd: dir })

it('each of both is ten lines at most, and names only commands and options that there are', async () => {
  for (const lines of [linesAt(0), linesAt(1)]) {
    expect(lines.split('\n').filter((line) => line !== '').length).toBeLessThanOrEqual(10)
    const named = commands(lines).filter((command) => command.includes(' '))
    expect(named.length).toBeGreaterThan(1)
    for (const command of named) {
      await inputOf(command.replaceAll(/"[^"]*"/g, 'x').split(' '))
    }
  }
  // test/e2e/agents-that-claim.test.ts follows those of the first.
})

it('the hooks have the form and the events of the documentation, and run what there is', async () => {
  const [, json = ''] = /```json\n(\{\n.*?)```/s.exec(page) ?? []
  const { hooks } = JSON.parse(json) as { hooks: Record<string, { hooks: object[] }[]> }
  // Neither needs a matcher.
  expect(Object.keys(hooks)).toEqual(['SessionStart', 'Stop'])
  for (const [group, ...others] of Object.values(hooks)) {
    expect(others).toEqual([])
    expect(group?.hooks).toEqual([{ type: 'command', command: expect.any(String) }])
    const [{ command = '' } = {}] = (group?.hooks ?? []) as { command: string }[]
    const [, ...words] = /^signalbox (\w+)/.exec(command) ?? []
    await inputOf(words)
  }
})

it.each([0, 1, 2, 3, 4])('the hook of commits refuses only a lost claim: exit code %i', (code) => {
  const [, hook = ''] = /```sh\n(#!.*?)```/s.exec(page) ?? []
  const script = `signalbox() { return ${code}; }\n${hook}`
  expect(spawnSync('/bin/sh', ['-c', script]).status).toBe(code === 4 ? 1 : 0)
})

it('the commands that wait run as they stand there', async () => {
  const none = await type('wait --timeout 1s')
  expect(none.code).toBe(3)
  const { id } = JSON.parse(none.out)
  const found = commands(linesAt(1), { TASK: 'LAMP-1', ID: id })
  const [status = '', any = ''] = found.filter((command) => command.startsWith('wait --'))
  expect(JSON.parse((await type(status)).out)).toMatchObject({ task: 'LAMP-1', status: 'done' })
  expect((await type(`${any} --timeout 1s`)).code).toBe(3)
})
