// Under `--log json` all that a command prints is lines of JSON that say when: its own, and those of
// a configuration, of Node and of a defect.

import { execFile } from 'node:child_process'
import { chmod, cp, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { SIGNALBOX } from '../../tools/harness/config.ts'
import { BREAKING_ORDER } from '../fixtures/thread-that-breaks.ts'
import { serveEdge } from '../sidecar/edge-server.ts'
import { token } from '../support/edge.ts'
import { type Launch, type Start, Starts } from '../support/local-system.ts'
import { PATIENT } from '../support/patience.ts'
import { programEnv } from '../support/run-home.ts'
import { tempFolder } from '../support/temp-folder.ts'

const THREAD_THAT_BREAKS = new URL('../fixtures/thread-that-breaks.ts', import.meta.url).href
/** A configuration that prints, as one of a user's own may. */
const CONFIG = `console.log('%s runs', 'it')
process.emitWarning('It is old.')
const PaymentSucceeded = ({ transaction }) => console.log('paid', transaction.reference)
export default { payments: { gateways: { redirect: { driver: 'redirect' } }, listeners: { PaymentSucceeded } } }
`

const starts = new Starts()
let folder: string
beforeEach(() => {
  folder = tempFolder()
})
afterEach(() => starts.clear())

/** In the folder with the configuration. */
const launch =
  (command: string): Launch =>
  (args) => {
    const argv = args.map((arg) => arg.replace(/^--store=/, ''))
    const inFolder = ['-c', 'cd "$0" && exec "$@"', folder, process.execPath, SIGNALBOX]
    return { command: '/bin/sh', args: [...inFolder, command, ...argv, '--log', 'json'] }
  }

/** The events, in order; fails for a line that is no JSON or has no time. */
function events(text: string): string[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const parsed = JSON.parse(line) as { event: string; message?: string }
      expect(parsed).toMatchObject({
        time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
        level: expect.stringMatching(/^(info|warn|error)$/),
      })
      return parsed.message === undefined ? parsed.event : `${parsed.event}: ${parsed.message}`
    })
}

const prints = (start: Start, event: string) =>
  expect.poll(() => start.stdout + start.stderr, PATIENT).toContain(event)

describe('all that is printed is JSON', () => {
  it('by signalbox with a configuration that prints, to its end by a broken thread', async () => {
    await writeFile(join(folder, 'signalbox.config.mjs'), CONFIG)
    const env = { NODE_OPTIONS: `--import=${THREAD_THAT_BREAKS}` }
    const system = await starts.start({ launch: launch('dev'), env })
    await prints(system, 'signalbox.ready')
    expect(system.stdout).not.toContain('#/sign-in/')
    const { redirectUrl = '' } = await system.charge('order-1')
    await fetch(redirectUrl, { method: 'POST', body: 'action=pay', redirect: 'manual' })
    await prints(system, 'paid order-1')
    await expect(system.charge(BREAKING_ORDER)).rejects.toThrow('fetch failed')
    expect(await system.ended).toEqual({ code: 1, signal: null })
    expect(events(system.stdout)).toEqual(['signalbox.ready'])
    const printed = events(system.stderr)
    expect(printed[0]).toMatch(/^signalbox\.notice: Runs \S+signalbox\.config\.mjs/)
    expect(printed).toEqual(expect.arrayContaining(['console: it runs', 'console: paid order-1']))
    expect(printed).toContain('process.warning')
    expect(printed.at(-1)).toBe('process.failed')
    expect(system.stderr).toContain('The thread broke')
  })

  it('by serve, from a notice over a failed reload to its end', async () => {
    const env = join(folder, 'env')
    const publicUrl = 'SIGNALBOX_PUBLIC_URL=https://board.example'
    await writeFile(env, `AUTH_SECRETS=${'x'.repeat(32)}\n${publicUrl}\n`, { mode: 0o600 })
    const dataDir = join(folder, 'data')
    await mkdir(dataDir)
    await chmod(dataDir, 0o755)
    const args = ['--repo=a', `--env=${env}`, '--notify=http://127.0.0.1:9/']
    const system = await starts.start({ launch: launch('serve'), dataDir, args })
    await prints(system, 'signalbox.ready')
    await writeFile(env, 'AUTH_SECRETS=\n')
    system.process.kill('SIGHUP')
    await prints(system, 'config.reload_failed')
    system.process.kill('SIGTERM')
    expect(await system.ended).toEqual({ code: 0, signal: null })
    expect(events(system.stdout)).toEqual(['signalbox.ready'])
    const printed = events(system.stderr)
    expect(printed[0]).toMatch(/^signalbox\.notice: The data folder \S+ was open to others/)
    expect(printed[1]).toMatch(/^signalbox\.notice: .* notices to 127\.0\.0\.1:9 are not delivered/)
    expect(printed).toEqual(expect.arrayContaining(['edge.listening', 'sidecar.ready']))
  })

  it('by watch', async () => {
    const edge = await serveEdge()
    onTestFinished(() => edge.close())
    const SIGNALBOX_TOKEN = await token({ repos: ['a'] })
    await cp('examples/board', join(folder, 'board'), { recursive: true })
    const watch: Launch = () => ({
      command: process.execPath,
      args: [
        SIGNALBOX,
        'watch',
        join(folder, 'board'),
        `--edge=${edge.url}`,
        '--repo=a',
        '--log=json',
      ],
    })
    const system = await starts.start({ launch: watch, env: { SIGNALBOX_TOKEN } })
    await prints(system, 'sidecar.ready')
    system.process.kill('SIGTERM')
    expect(await system.ended).toEqual({ code: 0, signal: null })
    expect(system.stdout).toBe('')
    expect(events(system.stderr).at(-1)).toBe('sidecar.ended')
  })

  it.each([
    { argv: ['serve', '--log', 'json'], why: 'No way to verify tokens is configured' },
    { argv: ['watch', '--log=json'], why: 'missing: DIR' },
    { argv: ['--log', 'json', '--prot', '1'], why: "unknown option '--prot'" },
    { argv: ['dev', '/nowhere'], env: { SIGNALBOX_LOG: 'json' }, why: 'There is no folder' },
  ])('by a command that is refused: $argv', async ({ argv, env, why }) => {
    const options = { cwd: folder, env: { ...programEnv(folder), ...env } }
    const refused = await promisify(execFile)(
      process.execPath,
      [SIGNALBOX, ...argv],
      options,
    ).catch((error: { code: number; stdout: string; stderr: string }) => error)
    expect(refused).toMatchObject({ code: 2, stdout: '' })
    expect(events(refused.stderr)).toEqual([expect.stringContaining(`signalbox.notice: ${why}`)])
  })
})
