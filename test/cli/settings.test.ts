import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Environment, type OptionValues, Settings } from '../../cli/settings.ts'

const read = (values: OptionValues, env: Environment = {}, positionals: string[] = []) =>
  new Settings(values, positionals, env)

const problemOf = (settings: Settings): string => {
  try {
    settings.check()
    return ''
  } catch (error) {
    expect(error).toMatchObject({ name: 'UsageError', code: 'usage' })
    return (error as Error).message
  }
}

test('an option beats its variable, and an empty one counts as absent', () => {
  const env = { SIGNALBOX_REPO: 'from-env' }
  expect(read({}, env).text('repo')).toBe('from-env')
  expect(read({ repo: ['flag'] }, env).text('repo')).toBe('flag')
  expect(read({ repo: [''] }, env).text('repo')).toBe('from-env')
  expect(read({}, { SIGNALBOX_REPO: ' ' }).text('repo')).toBeUndefined()
  expect(read({}, env).given('repo')).toBeUndefined()
})

test('a switch is on by its option, or by its variable where that is 1', () => {
  expect(read({ poll: true }).has('poll')).toBe(true)
  expect(read({}, { SIGNALBOX_POLL: '1' }).has('poll')).toBe(true)
  expect(read({}, { SIGNALBOX_POLL: '0' }).has('poll')).toBe(false)
  expect(read({}).has('poll')).toBe(false)
})

test('one sentence names everything that is missing, with option and variable', () => {
  const settings = read({})
  settings.positional('DIR, the folder')
  settings.url('edge', true)
  settings.required('repo')
  const problem = problemOf(settings)
  for (const name of ['DIR', '--edge', 'SIGNALBOX_EDGE', '--repo']) expect(problem).toContain(name)
  expect(problem).toMatch(/^missing: [^\n]+[^.]\.$/)
})

test('what is malformed is named too, all at once, and each thing once', () => {
  const values: OptionValues = {
    edge: ['ftp://x'],
    healthz: ['99999'],
    'run-output': ['magic'],
    timeout: ['soon'],
  }
  const settings = read(values, {}, ['one', 'two'])
  settings.positional('DIR')
  settings.url('edge', true)
  settings.port('healthz')
  settings.choice('run-output', ['masked'])
  settings.durationMs('timeout', 1)
  settings.choice('run-output', ['masked'])
  const problem = problemOf(settings)
  for (const name of ['two', '--edge', '--healthz', '--run-output', '--timeout']) {
    expect(problem.split(name)).toHaveLength(2)
  }
})

test('the last of several counts, unless the option may be given several times', () => {
  expect(read({ repo: ['a', 'b'] }).text('repo')).toBe('b')
  expect(read({ repo: ['a', 'b'] }).texts('repo')).toEqual(['a', 'b'])
  expect(read({}, { SIGNALBOX_REPO: 'c' }).texts('repo')).toEqual(['c'])
})

test('an edge may stand under a path, but not hold a password', () => {
  expect(read({ edge: ['https://x.test/sub'] }).url('edge', true)?.href).toBe('https://x.test/sub')
  const settings = read({ edge: ['https://me:hush@x.test'] })
  expect(settings.url('edge', true)).toBeUndefined()
  expect(problemOf(settings)).toMatch(/--edge(?!.*hush)/)
})

test('times are read with their unit', () => {
  const ms = (text: string) => read({ timeout: [text] }).durationMs('timeout', -1)
  expect(['90s', '5m', '12h', '30d', '0s', '5', '-1m'].map(ms)).toEqual([
    90_000, 300_000, 43_200_000, 2_592_000_000, -1, -1, -1,
  ])
})

test('whole numbers are read within their bounds', () => {
  const times = (text: string) => read({ times: [text] }).whole('times', [1, 10])
  expect(['1', '10', '0', '11', '1.5', '1e1', 'x'].map(times)).toEqual([
    ...[1, 10],
    ...Array.from({ length: 5 }, () => undefined),
  ])
})

let dir: string
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'signalbox-settings-'))
})
afterEach(() => rm(dir, { recursive: true }))

test('a token file is read each time, so a rotated token is found', async () => {
  const file = join(dir, 'token')
  await writeFile(file, 'first\n')
  const token = read({ 'token-file': [file] }, { SIGNALBOX_TOKEN: 'env' }).token()
  expect(await token?.()).toBe('first')
  await writeFile(file, 'second')
  expect(await token?.()).toBe('second')
})

test('the token of the environment beats a file that only the environment names', async () => {
  const env = { SIGNALBOX_TOKEN: 'env', SIGNALBOX_TOKEN_FILE: join(dir, 'nowhere') }
  expect(await read({}, env).token()?.()).toBe('env')
})

test('a token that could not stand in a header is refused', async () => {
  for (const bad of ['two words', 'line\nbreak', 'ü']) {
    await expect(read({}, { SIGNALBOX_TOKEN: bad }).token()?.()).rejects.toThrow('it holds')
  }
  await writeFile(join(dir, 'token'), '\n')
  const empty = read({ 'token-file': [join(dir, 'token')] }).token()
  await expect(empty?.()).rejects.toThrow('it is empty')
})

test('variables come from the environment, or from a file in its place', async () => {
  const file = join(dir, 'variables')
  await writeFile(file, 'AUTH_SECRETS="of the file"\n')
  const env = { AUTH_SECRETS: 'of the environment', AUTH_AUDIENCE: 'x' }
  expect(await read({}, env).variables()).toEqual(env)
  expect(await read({ env: [file] }, env).variables()).toEqual({
    AUTH_SECRETS: 'of the file',
  })
  const missing = read({ env: [join(dir, 'nowhere')] }).variables()
  await expect(missing).rejects.toMatchObject({ code: 'usage' })
})

test('the cache lies where the option or the system says', () => {
  expect(read({ cache: ['/x'] }).cacheDir()).toBe('/x')
  const system = read({}, { XDG_CACHE_HOME: '/xdg' }).cacheDir()
  if (process.platform === 'linux') expect(system).toBe('/xdg/signalbox')
})
