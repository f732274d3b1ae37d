import { expect, it } from 'vitest'
import { COMMANDS } from '../../cli/commands.ts'
import { inputOf, run } from './run.ts'

const none = {
  arguments: [],
  options: { board: true, config: true, runOutput: 'masked' },
}

const FOLDERS = ['../board', './sync', '/srv/board', 'C:\\board', '.', '..']
it.each<[argv: string[], input: object]>([
  [[], none],
  [['--open'], { options: { open: true } }],
  [['--port', '0'], { options: { port: 0 } }],
  [['--no-board'], { options: { board: false } }],
  ...FOLDERS.map((folder): [string[], object] => [[folder], { arguments: [folder] }]),
])('signalbox without a command means dev, also with a folder: %j', async (argv, input) => {
  expect(await inputOf(argv)).toMatchObject(input)
  expect(await inputOf(['dev', ...argv])).toEqual(await inputOf(argv))
})

it.each([['--help'], ['--version'], ['help']])('%s does not mean dev', async (word) => {
  const load = () => Promise.reject(new Error('dev was run'))
  const commands = { ...COMMANDS, dev: { ...COMMANDS.dev, load } as never }
  expect((await run([word], {}, {}, commands)).code).toBe(0)
})

it('names the repository after the folder, whatever repository the sidecar publishes', async () => {
  for (const command of ['dev', 'start']) {
    const { options } = await inputOf([command], { SIGNALBOX_REPO: 'another' })
    expect(options).not.toHaveProperty('repo')
  }
})

it.each([
  [['--port', '65536'], /--port N must be a whole number from 0 to 65535, not "65536"/],
  [['--port', '-1'], /--port/],
  [['--port', '80a'], /"80a"/],
  [['--port', ''], /--port is empty/],
  [['--repo', 'a\nb'], /control characters/],
  [['--repo', 'ä'.repeat(257)], /512 bytes/],
  [['--data', ''], /--data is empty/],
  [['--only', 'trello'], /must be one of cairn, backlog-md, [^"]*bmad, not "trello"/],
  [['--stroe', 'x'], /--stroe/],
])('dev refuses %j in one sentence that names what is wrong', async (args, sentence) => {
  const refused = await inputOf(['dev', ...args]).then(
    () => '',
    (error: Error) => error.message.trim(),
  )
  expect(refused).toMatch(sentence)
  expect(refused).not.toMatch(/\n|\. \S/)
  expect(refused).toMatch(/[^.]\.$/)
})

it.each([['--example'], ['--follow-links'], ['--poll'], ['--run-output', 'none']])(
  'dev refuses %s beside --no-board',
  async (...argv) => {
    const { code, err } = await run(['dev', '--no-board', ...argv])
    const sentence = `signalbox: ${argv[0]} has no effect with --no-board.\n`
    expect({ code, err }).toEqual({ code: 2, err: sentence })
  },
)

it('dev and serve take several folders, and several layouts', async () => {
  for (const command of ['dev', 'serve', './a']) {
    const argv = [
      command,
      ...(command === './a' ? [] : ['./a']),
      '--only',
      'kiro',
      'b',
      '--only=bmad',
    ]
    expect(await inputOf(argv)).toMatchObject({
      arguments: ['./a', 'b'],
      options: { only: ['kiro', 'bmad'] },
    })
  }
})

it.each(['--example', '--no-board'])('dev refuses several folders with %s', async (option) => {
  const { code, err } = await run(['dev', option, 'a', 'b'])
  const sentence = `signalbox: ${option} takes one DIR, not several.\n`
  expect({ code, err }).toEqual({ code: 2, err: sentence })
})

it.each<[argv: string[], input: object]>([
  [['--share'], { arguments: [], options: { share: 'network' } }],
  [['--share', '.'], { arguments: ['.'], options: { share: 'network' } }],
  [['.', '--share', '--open'], { arguments: ['.'], options: { share: 'network', open: true } }],
  [['--share=payments', '.'], { arguments: ['.'], options: { share: 'payments' } }],
  [['--share', 'lines'], { arguments: [], options: { share: 'lines' } }],
])('shares with the network, unless something else is named: %j', async (argv, input) => {
  expect(await inputOf(argv)).toMatchObject(input)
  await expect(inputOf(['--share=all'])).rejects.toThrow('network, payments, lines, not "all"')
})

it('start runs the edge on workerd, at the last port of the data folder', async () => {
  const options = { host: 'workerd' }
  const given = { arguments: [], behindDashes: [], options, typed: new Set() }
  expect(await inputOf(['start'])).toEqual(given)
})

it('start takes the last of several, since npm scripts put theirs in front', async () => {
  const argv = ['start', '--host=deno', '--port=1', '--host=workerd', '--port=2']
  expect((await inputOf(argv)).options).toMatchObject({ port: 2, host: 'workerd' })
})

it('start refuses a runtime that there is not, and a folder that is no option', async () => {
  await expect(inputOf(['start', '--host', 'bun'])).rejects.toThrow('workerd, deno, not "bun"')
  await expect(inputOf(['start', 'examples/board'])).rejects.toThrow('expected 0 arguments')
})
