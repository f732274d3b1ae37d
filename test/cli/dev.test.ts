import { afterEach, describe, expect, it } from 'vitest'
import { readDev } from '../../cli/commands/dev.ts'
import { run, settingsOf } from './run.ts'

const options = async (...args: string[]) =>
  readDev(await settingsOf(['dev', ...args]), '/home/me/project')

describe('signalbox without a command', () => {
  const asked: string[] = []
  const dev = async () => ({
    run: async () => {
      asked.push('dev')
      return 0
    },
  })
  afterEach(() => void asked.splice(0))

  it.each([
    [[]],
    [['--port', '0']],
    [['--open']],
    ...['../board', './sync', '/srv/board', 'C:\\board', '.', '..'].map((folder) => [[folder]]),
  ])('means dev, also with a folder: %j', async (argv) => {
    expect((await run(argv, {}, {}, { dev })).code).toBe(0)
    expect(asked).toEqual(['dev'])
  })

  it.each([['--help'], ['--version'], ['help']])('does not mean it: %s', async (word) => {
    expect((await run([word], {}, {}, { dev })).code).toBe(0)
    expect(asked).toEqual([])
  })
})

describe('the options of signalbox dev', () => {
  it('are about the folder that one is in', async () => {
    expect(await options()).toEqual({
      ...{ dir: '/home/me/project', isExample: false, opens: false, isPolling: false },
      ...{ followsLinks: false },
      ...{
        port: undefined,
        dataDir: undefined,
        trustsData: false,
        repo: undefined,
        runOutput: 'masked',
      },
    })
  })

  it('take folders relative to where they were typed', async () => {
    const { dir, dataDir } = await options('../board', '--data', 'd')
    expect([dir, dataDir]).toEqual(['/home/me/board', '/home/me/project/d'])
  })

  it.each([
    [['--port', 'x'], /--port N must be a whole number/],
    [['--repo', 'a\nb'], /control characters/],
    [['--data', ''], /--data is empty/],
    [['a', 'stuff'], /^dev takes one folder; 'stuff' is too much\.$/],
  ])('refuse %j', async (args, sentence) => {
    await expect(options(...args)).rejects.toThrow(sentence)
  })
})
