import { execFileSync } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { tokenSource } from '../../cli/access-token.ts'
import type { Context, Environment } from '../../cli/context.ts'
import { stopWithinMs, variablesIn } from '../../cli/environment.ts'
import { type PublishOptions, readPublishing } from '../../cli/publish-settings.ts'
import { tempFolder } from '../support/temp-folder.ts'
import { inputOf, run } from './run.ts'

const optionsOf = async (argv: string, env: Environment = {}) =>
  (await inputOf(argv.split(' '), env)).options
const refusal = (argv: string, env: Environment = {}): Promise<string> =>
  inputOf(argv.split(' '), env).then(
    () => '',
    (error: Error) => error.message,
  )

test('an option beats its variable; an empty variable counts as absent', async () => {
  const env = { SIGNALBOX_REPO: 'from-env' }
  expect(await optionsOf('watch', env)).toMatchObject({ repo: 'from-env' })
  expect(await optionsOf('watch --repo flag', env)).toMatchObject({ repo: 'flag' })
  expect(await refusal('watch --repo ', env)).toContain('--repo is empty.')
  expect(await optionsOf('watch', { SIGNALBOX_REPO: ' ' })).not.toHaveProperty('repo')
  expect(await optionsOf('watch', { SIGNALBOX_RUN_OUTPUT: '' })).toMatchObject({
    runOutput: 'masked',
  })
  expect((await inputOf(['watch', '--repo', 'x'], env)).typed).toEqual(new Set(['--repo']))
  expect((await inputOf(['watch'], env)).typed).toEqual(new Set())
})

test('a switch is on by its option, or by its variable unless that is 0', async () => {
  expect(await optionsOf('watch --poll')).toMatchObject({ poll: true })
  expect(await optionsOf('watch', { SIGNALBOX_POLL: '1' })).toMatchObject({ poll: true })
  for (const SIGNALBOX_POLL of ['0', '', 'false']) {
    expect(await optionsOf('watch', { SIGNALBOX_POLL })).not.toHaveProperty('poll')
  }
})

test('one sentence names everything that is missing, with option and variable', async () => {
  const { code, err } = await run(['watch'])
  expect(code).toBe(2)
  const names = ['DIR', '--edge URL (or SIGNALBOX_EDGE), the address', '--repo', 'SIGNALBOX_TOKEN']
  for (const name of names) expect(err).toContain(name)
  expect(err).toMatch(/^signalbox: missing: [^\n]+[^.]\.\n$/)
})

test.each([
  ['watch --edge ftp://x', '--edge URL (or SIGNALBOX_EDGE) must be an http or https URL'],
  ['watch --healthz 99999', '--healthz PORT (or SIGNALBOX_HEALTHZ) must be a whole number'],
  ['watch --run-output magic', 'must be one of masked, none, not "magic"'],
  ['sync --timeout soon', 'must be a time like 90s, 5m, 12h or 30d, not "soon"'],
])('what is malformed is named: %s', async (argv, sentence) => {
  expect(await refusal(argv)).toContain(sentence)
})

test('a variable that is malformed is named like its option', async () => {
  expect(await refusal('watch', { SIGNALBOX_HEALTHZ: 'x' })).toContain('SIGNALBOX_HEALTHZ')
})

test('the last of several counts, unless the option may be given several times', async () => {
  expect(await optionsOf('watch --repo a --repo b')).toMatchObject({ repo: 'b' })
  expect(await optionsOf('token --repo a --repo b')).toMatchObject({ repo: ['a', 'b'] })
  expect(await optionsOf('token', { SIGNALBOX_REPO: 'c' })).toMatchObject({ repo: ['c'] })
})

test('an edge may stand under a path, but not hold a password', async () => {
  const { edge } = await optionsOf('watch --edge https://x.test/sub')
  expect(String(edge)).toBe('https://x.test/sub')
  expect(await refusal('watch --edge https://me:hush@x.test')).toMatch(/--edge(?!.*hush)/)
})

test('times are read with their unit', async () => {
  const ms = async (text: string) =>
    (await optionsOf(`sync --timeout ${text}`).catch(() => undefined))?.timeout
  const texts = ['90s', '5m', '12h', '30d', '0s', '5', '-1m']
  // biome-ignore format: several values a line.
  expect(await Promise.all(texts.map(ms))).toEqual([
    90_000, 300_000, 43_200_000, 2_592_000_000, undefined, undefined, undefined,
  ])
  expect(await optionsOf('sync')).toMatchObject({ timeout: 300_000 })
})

test('whole numbers are read within their bounds', async () => {
  const times = async (text: string) =>
    (await optionsOf(`payments simulate --times ${text}`).catch(() => undefined))?.times
  const texts = ['1', '1000', '0', '1001', '1.5', '1e1', 'x']
  expect(await Promise.all(texts.map(times))).toEqual([
    1,
    1_000,
    ...Array.from({ length: 5 }, () => undefined),
  ])
})

let dir: string
beforeEach(() => {
  dir = tempFolder()
})

const token = async (argv: string[], env: Environment = {}) =>
  tokenSource(await inputOf<{ tokenFile?: string }>(['watch', ...argv], env), env)

test('a token file is read each time, so a rotated token is found', async () => {
  const file = join(dir, 'token')
  await writeFile(file, 'first\n')
  const read = await token(['--token-file', file], { SIGNALBOX_TOKEN: 'env' })
  expect(await read?.()).toBe('first')
  await writeFile(file, 'second')
  expect(await read?.()).toBe('second')
})

test('a pipe in the place of a token file is refused, and not waited for', async () => {
  const pipe = join(dir, 'pipe')
  execFileSync('mkfifo', [pipe])
  const read = await token(['--token-file', pipe])
  await expect(read?.()).rejects.toThrow('it is no regular file')
})

test.each([
  ['', 10_000],
  ['1s', 1_000],
  ['40s', 40_000],
  ['9999s', 9_999_000],
])('SIGNALBOX_STOP_TIMEOUT=%s is taken', (text, ms) => {
  expect(stopWithinMs({ SIGNALBOX_STOP_TIMEOUT: text })).toBe(ms)
})

test.each(['0s', '10', '1.5s', '-1s', '10000s', '1m', ' 5s', '5s\n', 'Infinity'])(
  'SIGNALBOX_STOP_TIMEOUT=%j is refused',
  (text) => {
    const stop = () => stopWithinMs({ SIGNALBOX_STOP_TIMEOUT: text })
    expect(stop).toThrow(expect.objectContaining({ code: 'usage' }))
  },
)

test('the token of the environment beats a file that only the environment names', async () => {
  const env = { SIGNALBOX_TOKEN: 'env', SIGNALBOX_TOKEN_FILE: join(dir, 'nowhere') }
  expect(await (await token([], env))?.()).toBe('env')
})

test('a token that could not stand in a header is refused', async () => {
  for (const SIGNALBOX_TOKEN of ['two words', 'line\nbreak', 'ü']) {
    await expect((await token([], { SIGNALBOX_TOKEN }))?.()).rejects.toThrow('it holds')
  }
  await writeFile(join(dir, 'token'), '\n')
  const empty = await token(['--token-file', join(dir, 'token')])
  await expect(empty?.()).rejects.toThrow('it is empty')
})

test('variables come from the environment, or from a file in its place', async () => {
  const file = join(dir, 'variables')
  await writeFile(file, 'AUTH_SECRETS="of the file"\n', { mode: 0o600 })
  const env = { AUTH_SECRETS: 'of the environment', AUTH_AUDIENCE: 'x' }
  expect(await variablesIn(undefined, env)).toEqual(env)
  expect(await variablesIn(file, env)).toEqual({ AUTH_SECRETS: 'of the file' })
  const missing = variablesIn(join(dir, 'nowhere'), env)
  await expect(missing).rejects.toMatchObject({ code: 'bad_secret_file' })
})

test('the cache lies where the option or the system says', async () => {
  const cacheDir = async (argv: string[], env: Environment) => {
    const all = ['watch', '/b', '--edge=http://127.0.0.1:1', '--repo=r', ...argv]
    const input = await inputOf<PublishOptions>(all)
    const io = { err: () => undefined } as unknown as Context['io']
    const context = { io, env: { SIGNALBOX_TOKEN: 't', ...env } } as unknown as Context
    return readPublishing(input, context).plan.cacheDir
  }
  expect(await cacheDir(['--cache', '/x'], {})).toBe('/x')
  const system = await cacheDir([], { XDG_CACHE_HOME: '/xdg' })
  if (process.platform === 'linux') expect(system).toBe('/xdg/signalbox')
})
