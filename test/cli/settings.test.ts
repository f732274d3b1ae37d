import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type OptionName, Settings, UsageError } from '../../cli/settings.ts'

const NAMES: OptionName[] = [
  'edge',
  'repo',
  'token-file',
  'poll',
  'run-output',
  'healthz',
  'timeout',
  'wait',
  'cache',
]
const read = (argv: string[], env: Record<string, string> = {}) => new Settings(argv, NAMES, env)

function messageOf(settings: Settings): string {
  try {
    settings.check()
  } catch (error) {
    if (error instanceof UsageError) return error.message
  }
  return ''
}

test('a flag beats its variable, and an empty one counts as absent', () => {
  const env = { SIGNALBOX_REPO: 'from-env' }
  expect(read([], env).text('repo')).toBe('from-env')
  expect(read(['--repo', 'flag'], env).text('repo')).toBe('flag')
  expect(read(['--repo='], env).text('repo')).toBe('from-env')
  expect(read([], { SIGNALBOX_REPO: '' }).text('repo')).toBeUndefined()
})

test('a switch is on by its flag, or by its variable where that is 1', () => {
  expect(read(['--poll']).has('poll')).toBe(true)
  expect(read([], { SIGNALBOX_POLL: '1' }).has('poll')).toBe(true)
  expect(read([], { SIGNALBOX_POLL: '0' }).has('poll')).toBe(false)
  expect(read([]).has('poll')).toBe(false)
})

test('one sentence names everything that is missing, with flag and variable', () => {
  const settings = read([])
  settings.dir()
  settings.url('edge')
  settings.required('repo')
  settings.token()
  const message = messageOf(settings)
  for (const name of [
    'DIR',
    '--edge',
    'SIGNALBOX_EDGE',
    '--repo',
    'SIGNALBOX_TOKEN',
    '--token-file',
  ])
    expect(message).toContain(name)
})

test('what is malformed is named too, all at once', () => {
  const settings = read([
    'one',
    'two',
    '--edge=ftp://x',
    '--healthz=99999',
    '--run-output=magic',
    '--timeout=soon',
    '--repo=a',
    '--repo=b',
  ])
  settings.dir()
  settings.url('edge')
  settings.port('healthz')
  settings.choice('run-output', ['masked'])
  settings.durationMs('timeout', 1)
  settings.text('repo')
  const message = messageOf(settings)
  for (const name of ['two', '--edge', '--healthz', '--run-output', '--timeout', '--repo'])
    expect(message).toContain(name)
})

test('an unknown flag, a token as a flag and a missing value are refused', () => {
  expect(() => read(['--nope'])).toThrow(UsageError)
  expect(() => read(['--token', 'hush'])).toThrow(UsageError)
  expect(() => read(['--edge'])).toThrow(UsageError)
  expect(() => read(['--wait=yes'])).toThrow(UsageError)
})

test('an edge may stand under a path, but not hold a password', () => {
  expect(read(['--edge', 'https://x.test/sub']).url('edge')?.href).toBe('https://x.test/sub')
  const settings = read(['--edge', 'https://me:hush@x.test'])
  expect(settings.url('edge')).toBeUndefined()
  expect(messageOf(settings)).not.toContain('hush')
})

test('times are read with their unit', () => {
  const ms = (text: string) => read([`--timeout=${text}`]).durationMs('timeout', -1)
  expect(['90s', '5m', '12h', '30d', '0s', '5', '-1m'].map(ms)).toEqual([
    90_000, 300_000, 43_200_000, 2_592_000_000, -1, -1, -1,
  ])
})

let dir: string
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'signalbox-config-'))
})
afterEach(() => rm(dir, { recursive: true }))

test('a token file is read each time, so a rotated token is found', async () => {
  const file = join(dir, 'token')
  await writeFile(file, 'first\n')
  const token = read(['--token-file', file], { SIGNALBOX_TOKEN: 'env' }).token()
  expect(await token?.()).toBe('first')
  await writeFile(file, 'second')
  expect(await token?.()).toBe('second')
})

test('a token that could not stand in a header is said to be none', async () => {
  for (const bad of ['', 'two words', 'line\nbreak', 'ü'])
    await expect(read([], { SIGNALBOX_TOKEN: bad || ' ' }).token()?.()).rejects.toThrow(/it /)
})

test('the cache lies where the flag or the system says', () => {
  expect(read(['--cache', '/x']).cacheDir()).toBe('/x')
  const system = read([], { XDG_CACHE_HOME: '/xdg' }).cacheDir()
  if (process.platform === 'linux') expect(system).toBe('/xdg/signalbox')
})
