import { execFile } from 'node:child_process'
import { delimiter } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { main } from '../../../cli/local.ts'
import { hidingIo, secretValues } from '../../../cli/payments/hide.ts'
import { REDIRECT, run } from './bed.ts'

describe('the command line', () => {
  it('prints help of all and of each to standard output, with the exit codes', async () => {
    for (const argv of ['--help', 'payments --help', 'help']) {
      const all = await run(argv)
      expect(all).toMatchObject({ code: 0, err: '' })
      expect(all.out).toContain('payments doctor')
      expect(all.out).toContain('payments simulate')
    }
    for (const name of ['doctor', 'simulate']) {
      const one = await run(`payments ${name} --help`)
      expect(one).toMatchObject({ code: 0, err: '' })
      expect(one.out).toContain('Exit codes:')
      expect(one.out).toContain('--data DIR')
    }
  })

  it('ends with 2 without a command, with an unknown one, and with an unknown flag', async () => {
    expect(await run('')).toMatchObject({ code: 2, out: '' })
    expect(await run('payments pay')).toMatchObject({ code: 2, out: '' })
    expect(await run('payments doctor --api-key x')).toMatchObject({ code: 2, out: '' })
  })

  it('says in one line that signalbox.config.ts throws', async () => {
    const said: string[] = []
    const io = { out: () => undefined, err: (text: string) => void said.push(text) }
    const loadFile = () => Promise.reject(new Error('no such driver'))
    expect(await main(['payments', 'doctor'], io, { env: {}, loadFile })).toBe(2)
    expect(said).toEqual([
      'signalbox payments doctor: signalbox.config.ts cannot be loaded: Error: no such driver\n',
    ])
  })

  it('is what npx finds in a checkout, and runs on the Node that the checkout brings', async () => {
    // As in a terminal: the machine's own Node may be one that cannot run TypeScript.
    const { PATH = '' } = process.env
    const own = PATH.split(delimiter).filter((folder) => !folder.includes('node_modules'))
    const argv = ['--no-install', 'signalbox', '--help']
    const { stdout } = await promisify(execFile)('npx', argv, {
      env: { ...process.env, PATH: own.join(delimiter) },
    })
    expect(stdout).toContain('payments simulate')
  }, 30_000)
})

describe('the last door before the terminal', () => {
  it('lets no secret pass, nor a token, whoever tells it', () => {
    const said: string[] = []
    const io = hidingIo({ out: (text) => said.push(text), err: (text) => said.push(text) }, [
      ...secretValues({ ...REDIRECT, AUTH_SECRETS: 'one-of-two-secrets and-the-other-one' }),
      ...secretValues({}, [{ settings: { api_key: 'a-key-in-the-config-file' } }]),
    ])
    io.out(`it said ${REDIRECT.REDIRECT_GATEWAY_API_KEY} and and-the-other-one`)
    io.err('it said a-key-in-the-config-file and Bearer abc for merchant')
    expect(said).toEqual([
      'it said [redacted] and [redacted]',
      'it said [redacted] and Bearer [redacted] for merchant',
    ])
  })
})
