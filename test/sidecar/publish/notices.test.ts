import { existsSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it, vi } from 'vitest'
import type { CommandEdge } from '../../../sidecar/publish/edge.ts'
import { noticePlan } from '../../../sidecar/publish/notices.ts'
import type { CommandEnd, DueCommands } from '../../../worker/board/wire.ts'
import { PATIENT } from '../../support/patience.ts'
import { tempFolder } from '../../support/temp-folder.ts'

const NODE = process.execPath
const silent = () => undefined

/** An edge with these commands due, once, and then what is queued. */
function edgeWith(commands: DueCommands['commands']) {
  const ended: CommandEnd[] = []
  let left = commands
  const edge: CommandEdge = {
    async dueCommands() {
      const due = left
      left = []
      return { ok: true, value: { commands: due } }
    },
    async commandRan(end) {
      ended.push(end)
      return { ok: true, value: {} }
    },
  }
  const queue = (more: DueCommands['commands']) => {
    left = more
  }
  return { edge, ended, queue }
}
const due = (command = '', id = 'ntc_1') => ({
  id,
  command,
  at: '2026-11-29T12:00:00.000Z',
  text: 'Signalbox, shop:\nStalled: A-1 $(touch x) "; touch y',
  body: '{"type":"BoardNotice"}',
})
const nameOf = ({ rules: [rule] }: ReturnType<typeof noticePlan>) => rule?.to.command

it('publishes the name of a command, the same at each start, and nothing else of it', () => {
  const command = ['notify-send', 'Signalbox'] as const
  const rules = [
    { on: 'stalled', to: { command } },
    { on: 'silent', minutes: 9, to: { ntfy: 'https://ntfy.sh/x' } },
  ] as const
  const plan = noticePlan(rules, silent)
  expect(plan.rules).toEqual([
    { on: 'stalled', to: { command: expect.stringMatching(/^[0-9a-f]{16}$/) } },
    { on: 'silent', minutes: 9, to: { ntfy: 'https://ntfy.sh/x' } },
  ])
  expect(noticePlan(rules, silent).rules).toEqual(plan.rules)
})

it('runs a command without a shell: the text is one argument, and standard input has the JSON', async () => {
  const dir = tempFolder()
  const script = `
    const { readFileSync, writeFileSync } = require('node:fs')
    const all = { args: process.argv.slice(1), body: readFileSync(0, 'utf8') }
    writeFileSync(process.argv[1], JSON.stringify(all))`
  const file = join(dir, 'ran.json')
  const plan = noticePlan([{ on: 'stalled', to: { command: [NODE, '-e', script, file] } }], silent)
  const { text, body } = due()
  const { edge, ended } = edgeWith([{ ...due(nameOf(plan)), text: `${text}\0` }])
  plan.due(edge)
  await vi.waitUntil(() => ended.length === 1, PATIENT)
  expect(ended).toEqual([{ id: 'ntc_1' }])
  // No argument can hold a NUL.
  expect(JSON.parse(await readFile(file, 'utf8'))).toEqual({ args: [file, `${text}\uFFFD`], body })
})

it('says why one failed, without what stands in the file, and runs nothing that is not in it', async () => {
  const ends = async (command: readonly string[], name?: string) => {
    const plan = noticePlan([{ on: 'stalled', to: { command } }], silent)
    const { edge, ended } = edgeWith([due(name ?? nameOf(plan))])
    plan.due(edge)
    await vi.waitUntil(() => ended.length === 1, PATIENT)
    return ended[0]?.error
  }
  expect(await ends([NODE, '-e', 'process.exit(3)'])).toBe('It ended with exit code 3.')
  expect(await ends([`/nowhere/${'at/'.repeat(300)}all`])).toBe('It cannot be run: ENOENT.')
  expect(await ends([NODE, 'a\0b'])).toBe('It cannot be run: ERR_INVALID_ARG_VALUE.')
  expect(await ends([NODE], '0123456789abcdef')).toBe('This sidecar has no such command.')
})

it('runs a command that becomes due while another runs, without a second signal', async () => {
  const dir = tempFolder()
  const [began, goOn] = [join(dir, 'began'), join(dir, 'go-on')]
  const script = `
    const { existsSync, writeFileSync } = require('node:fs')
    writeFileSync(process.argv[1], '')
    setInterval(() => existsSync(process.argv[2]) && process.exit(), 5)`
  const command = [NODE, '-e', script, began, goOn] as const
  const plan = noticePlan([{ on: 'stalled', to: { command } }], silent)
  const { edge, ended, queue } = edgeWith([due(nameOf(plan))])
  plan.due(edge)
  await vi.waitUntil(() => existsSync(began), PATIENT)
  queue([due(nameOf(plan), 'ntc_2')])
  plan.due(edge)
  writeFileSync(goOn, '')
  await vi.waitUntil(() => ended.length === 2, PATIENT)
  expect(ended).toEqual([{ id: 'ntc_1' }, { id: 'ntc_2' }])
})
