import { execFile } from 'node:child_process'
import { mkdir } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import type { Listed } from '../../cli/command.ts'
import { COMMANDS } from '../../cli/commands.ts'
import type { ConfigChoice } from '../../cli/context.ts'
import { hiding, secretValues } from '../../cli/payments/target.ts'
import { type Io, saying } from '../../cli/terminal.ts'
import { FakeClock } from '../../libraries/testing/fake-clock.ts'
import manifest from '../../package.json' with { type: 'json' }
import { StartError } from '../../system/start-error.ts'
import { tempFolder } from '../support/temp-folder.ts'
import { REDIRECT } from './payments/fake-system.ts'
import { run } from './run.ts'

const NAMES = Object.keys(COMMANDS)
const refusal = async (...argv: string[]): Promise<string> => {
  const { code, out, err } = await run(argv)
  expect({ argv, code, out }).toEqual({ argv, code: 2, out: '' })
  expect(err).toMatch(/^signalbox: [^\n]+\.\n$/)
  return err
}

describe('a full disk', () => {
  const failingWith = (error: Error) =>
    run(['full'], {}, {}, {
      full: {
        summary: 'fails',
        load: async () => ({
          command: {
            usage: '',
            description: '',
            options: [],
            run: () => Promise.reject(error),
          },
        }),
      },
    } as unknown as typeof COMMANDS)
  const full = Object.assign(new Error('ENOSPC: no space left'), { code: 'ENOSPC' })

  it.each([
    [
      'as what a start is refused for',
      new StartError('bundle_failed', 'It is full.', { cause: full }),
      'It is full.',
    ],
    ['as itself', full, 'The disk is full or fails: ENOSPC: no space left.'],
  ])('is exit code 1 %s, in one sentence', async (_, error, sentence) => {
    expect(await failingWith(error)).toEqual({ code: 1, out: '', err: `signalbox: ${sentence}\n` })
  })
})

describe('help', () => {
  it('of everything names every command and the exit codes, on standard output', async () => {
    for (const argv of [['--help'], ['-h'], ['help']]) {
      const { code, out, err } = await run(argv)
      expect([code, err]).toEqual([0, ''])
      for (const name of NAMES) expect(out).toMatch(new RegExp(`^ +${name}  `, 'm'))
      expect(out).toContain('Exit codes:')
    }
  })

  it.each(NAMES)('of %s says how it is used, with its options and the exit codes', async (name) => {
    const { code, out, err } = await run([...name.split(' '), '--help'])
    expect([code, err]).toEqual([0, ''])
    expect(out).toContain(`Usage: signalbox ${name} `)
    expect(out).toContain('Exit codes:')
    expect(out.split('\n').filter((line) => line.length > 100)).toEqual([])
  })

  it('names the variable that stands for an option', async () => {
    expect((await run(['watch', '--help'])).out).toMatch(/--edge <URL> .*SIGNALBOX_EDGE/)
  })

  it('speaks of access tokens only where one is taken', async () => {
    expect((await run(['sync', '--help'])).out).toContain('SIGNALBOX_TOKEN')
    expect((await run(['sign-in', '--help'])).out).not.toContain('SIGNALBOX_TOKEN')
  })

  it('of payments lists its commands', async () => {
    const { code, out } = await run(['payments', '--help'])
    expect(code).toBe(0)
    expect(out).toContain('payments doctor')
    expect(out).toContain('payments simulate')
  })

  it('goes to standard error, with exit code 2, where no command of a group is named', async () => {
    const group = await run(['payments'])
    expect([group.code, group.out]).toEqual([2, ''])
    expect(group.err).toContain('payments simulate')
  })
})

describe('wrong usage', () => {
  it('names the command that was probably meant', async () => {
    expect(await refusal('wach')).toContain("unknown command 'wach' (Did you mean watch?)")
    expect(await refusal('payments', 'docter')).toContain('Did you mean doctor?')
    expect(await refusal('payment', 'doctor')).toContain('Did you mean payments?')
  })

  it('says how a folder of that name is meant', async () => {
    const cwd = tempFolder()
    await mkdir(join(cwd, 'p'))
    expect((await run(['p'], {}, { cwd })).err).toContain('write signalbox ./p')
    expect((await run(['q'], {}, { cwd })).err).not.toContain('./q')
  })

  it('says where the commands are listed when none is near', async () => {
    expect(await refusal('fly')).toContain("unknown command 'fly' (signalbox --help")
    expect(await refusal('payments', 'pay')).toContain('pay')
  })

  it('names the option that was probably meant', async () => {
    expect(await refusal('start', '--stroe', 'x')).toContain('Did you mean --store?')
    expect(await refusal('payments', 'doctor', '--enf', 'x')).toContain('Did you mean --env?')
  })

  it('never repeats a secret that was given as an option', async () => {
    expect(await refusal('watch', '--token', 'a-secret-token')).not.toContain('a-secret-token')
    expect(await refusal('watch', '--token=a-secret-token')).not.toContain('a-secret-token')
  })

  it('of an option without its value is told from the option that follows', async () => {
    expect(await refusal('start', '--store')).toContain("'--store <DIR>' needs a value")
    expect(await refusal('sync', '--edge', '--repo', 'x')).toContain("'--edge <URL>' needs a value")
  })

  it('of a switch with a value is refused', async () => {
    expect(await refusal('watch', '--wait=yes')).toContain('--wait')
  })
})

describe('--version', () => {
  it('is the version and nothing else', async () => {
    for (const argv of [['--version'], ['-v']]) {
      expect((await run(argv)).out).toMatch(/^\d+\.\d+\.\d+\n$/)
    }
  })
})

describe('signalbox in a checkout', () => {
  it('is what npx finds, and runs on the Node that the checkout brings', async () => {
    // As in a terminal: the machine's own Node may be one that cannot run TypeScript.
    const { PATH = '' } = process.env
    const own = PATH.split(delimiter).filter((folder) => !folder.includes('node_modules'))
    // npx remembers where the program of a checkout stood; this one has never seen any.
    const cache = tempFolder()
    const env = { ...process.env, PATH: own.join(delimiter), npm_config_cache: cache }
    const argv = ['--no-install', 'signalbox', '--help']
    const { stdout } = await promisify(execFile)('npx', argv, { env })
    expect(stdout).toContain('payments simulate')
  })

  it('says in one sentence that Node is too old, before it loads anything', async () => {
    const needed = manifest.engines.node.replace('>=', '')
    const sentence = `Node 22.21.9 is too old: Signalbox needs Node ${needed} or newer.`
    const old = '{value:{...process.versions,node:"22.21.9"}}'
    const pretend = `data:text/javascript,Object.defineProperty(process,"versions",${old})`
    const argv = ['--import', pretend, 'cli/bin.js', '--help']
    await expect(promisify(execFile)(process.execPath, argv)).rejects.toMatchObject({
      code: 2,
      stdout: '',
      stderr: `signalbox: ${sentence}\n`,
    })
    const inJson = [...argv.slice(0, -1), 'serve', '--log', 'json']
    const refused = await promisify(execFile)(process.execPath, inJson).catch((error) => error)
    expect(JSON.parse(refused.stderr)).toMatchObject({
      level: 'error',
      message: sentence,
    })
  })

  it('reads the file of --env itself, and says that it is missing', async () => {
    // Node takes an option of its own wherever it stands in the arguments.
    const argv = ['cli/bin.js', 'serve', '--env', 'nope']
    await expect(promisify(execFile)(process.execPath, argv)).rejects.toMatchObject({
      code: 2,
      stdout: '',
      stderr: 'signalbox: --env: the file nope cannot be read (ENOENT).\n',
    })
  })

  it.each([
    ['serve --repo x --poll', '--repo has no effect without DIR; --poll has no effect without DIR'],
    ['serve --verbose', '--verbose has no effect without DIR'],
    ['doctor --repo x', '--repo has no effect without --edge'],
    ['doctor --token-file x', '--token-file has no effect without --edge'],
    ['doctor --no-config', '--no-config has no effect without --payments'],
    ['doctor --trust-data', '--trust-data has no effect without a data folder (--data)'],
    ['payments doctor --trust-data', '--trust-data has no effect without a data folder (--data)'],
    [
      'payments simulate fib --edge http://127.0.0.1:1 --transaction t --amount 5',
      '--amount has no effect for fib',
    ],
  ])('refuses options that would have no effect, by name: %s', async (line, why) => {
    const loadFile = async () => ({ payments: { gateways: { fib: { driver: 'fib' } } } })
    const { code, err } = await run(line.split(' '), {}, { loadFile })
    expect([code, err]).toEqual([2, `signalbox: ${why}.\n`])
  })

  it('takes variables that have no effect, since they may be set for other commands', async () => {
    const env = { SIGNALBOX_REPO: 'x', SIGNALBOX_TOKEN_FILE: '/x', SIGNALBOX_TRUST_DATA: '1' }
    const { err } = await run(['doctor'], env)
    expect(err).not.toContain('no effect')
  })

  it('runs signalbox.config.ts unless --no-config is given, which a checkout refuses', async () => {
    const skipped: boolean[] = []
    const loadFile = async ({ skips }: ConfigChoice) => {
      skipped.push(skips)
      return {}
    }
    await run(['payments', 'doctor'], {}, { loadFile })
    await run(['payments', 'doctor', '--no-config'], {}, { loadFile })
    expect(skipped).toEqual([false, true])
    const argv = ['cli/bin.js', 'payments', 'doctor', '--no-config']
    await expect(promisify(execFile)(process.execPath, argv)).rejects.toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--no-config has no effect in a checkout'),
    })
  })

  it('says in one line that signalbox.config.ts throws', async () => {
    const loadFile = () => Promise.reject(new Error('no such driver'))
    const { code, err } = await run(['payments', 'doctor'], {}, { loadFile })
    const why = 'signalbox.config.ts cannot be loaded: Error: no such driver'
    expect([code, err]).toEqual([2, `signalbox: ${why}\n`])
  })
})

describe('signalbox in the installed package', () => {
  const { start, ...others } = COMMANDS
  const PACKAGED = { ...others, start: { ...start, load: undefined } as Listed }
  const packaged = (...argv: string[]) => run(argv, {}, {}, PACKAGED)

  it('lists every command but start, which needs a checkout and says so', async () => {
    const { out } = await packaged('--help')
    for (const name of NAMES) {
      const isListed = new RegExp(`^ +${name}  `, 'm').test(out)
      expect([name, isListed]).toEqual([name, name !== 'start'])
    }
    expect(await packaged('start')).toMatchObject({
      code: 2,
      err: 'signalbox: start needs a checkout of Signalbox: run it there, with npm run start.\n',
    })
  })
})

describe('the last step before the terminal', () => {
  it('lets no secret pass, nor a token, whoever wrote it', () => {
    const hide = hiding([
      ...secretValues({ ...REDIRECT, AUTH_SECRETS: 'one-of-two-secrets and-the-other-one' }),
      ...secretValues({}, [{ settings: { api_key: 'a-key-in-the-config-file' } }]),
    ])
    expect([
      hide(`it said ${REDIRECT.REDIRECT_GATEWAY_API_KEY} and and-the-other-one`),
      hide('it said a-key-in-the-config-file and Bearer abc for merchant'),
    ]).toEqual([
      'it said [redacted] and [redacted]',
      'it said [redacted] and Bearer [redacted] for merchant',
    ])
  })
})

describe('a search that takes long', () => {
  it('is named after a second of silence, and not before', async () => {
    const clock = new FakeClock()
    let printed = ''
    const io = { err: (text: string) => (printed += text), isTerminal: true } as unknown as Io
    const search = Promise.withResolvers<string>()
    const found = saying('Looking for boards …', { io, clock }, () => search.promise)
    await clock.advance(999)
    expect(printed).toBe('')
    await clock.advance(1)
    expect(printed).toContain('Looking for boards …')
    search.resolve('a board')
    expect(await found).toBe('a board')
    await saying('Never said', { io, clock }, async () => undefined)
    await clock.advance(5_000)
    expect(printed).not.toContain('Never')
  })
})
