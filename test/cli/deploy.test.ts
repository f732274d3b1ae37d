import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { choose } from '../../cli/commands/deploy.ts'
import { deployedUrl } from '../../cli/deploy/wrangler.ts'
import { tempFolder } from '../support/temp-folder.ts'

/** Answers the questions in their order. */
async function chosen(answers: readonly string[], before?: Parameters<typeof choose>[2]) {
  const cwd = tempFolder()
  const asked: string[] = []
  const io = {
    out: () => undefined,
    err: () => undefined,
    isTerminal: true,
    shutdownSignal: () => new AbortController().signal,
    async ask(question: string) {
      asked.push(question)
      return answers[asked.length - 1] ?? ''
    },
  }
  const context = { io, env: {}, cwd, loadFile: () => Promise.reject(new Error('none')) }
  const input = { arguments: [], behindDashes: [], options: {}, typed: new Set<string>() }
  return { asked, cwd, choice: await choose(input, context, before) }
}

it('deploy asks for the names and for payments, and offers what Enter takes', async () => {
  const { asked, choice } = await chosen(['my-edge', 'team/board', 'yes'])
  expect(choice).toEqual({ name: 'my-edge', board: 'team/board', payments: true })
  expect(asked).toEqual([
    'Name of the Worker [signalbox]: ',
    expect.stringMatching(/^Name of the board \[signalbox-test-\w+\]: $/),
    'With payments? [y/N]: ',
  ])
  const plain = await chosen([])
  const board = plain.cwd.replace(/^.*\//, '')
  expect(plain.choice).toEqual({ name: 'signalbox', board, payments: false })
})

it('deploy asks nothing that the last run has chosen', async () => {
  const before = { name: 'my-edge', board: 'b', payments: true }
  expect(await chosen([], before)).toMatchObject({ asked: [], choice: before })
})

it.each([
  ['https://my-edge.ada.workers.dev', ['https://my-edge.ada.workers.dev', 'schedule: * * * * *']],
  ['https://edge.example', ['edge.example (custom domain)', 'schedule: * * * * *']],
  ['https://edge.example', ['https://a.workers.dev', 'edge.example (custom domain - zone id: 1)']],
])('deploy names the address at which the Worker is: %s', async (url, targets) => {
  const file = join(tempFolder(), 'output.ndjson')
  await writeFile(file, `{"type":"wrangler-session"}\n${JSON.stringify({ targets })}\n`)
  expect(await deployedUrl(file)).toBe(url)
})

it('half a line at the end of wrangler’s output file gives no address, and no error', async () => {
  const file = join(tempFolder(), 'output.ndjson')
  await writeFile(file, '{"type":"deploy","targets":["https://edge.exa')
  expect(await deployedUrl(file)).toBeUndefined()
  await writeFile(file, '{"targets":["https://a.workers.dev"]}\n{"type":"dep')
  expect(await deployedUrl(file)).toBe('https://a.workers.dev')
})
