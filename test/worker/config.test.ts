import { expect, it } from 'vitest'
import { ConfigError, type Environment, readConfig, readHostConfig } from '../../worker/config.ts'
import type { SignalboxFile } from '../../worker/payments/define-config.ts'

it('names every malformed variable in one error', () => {
  const env = {
    ALLOWED_ORIGINS: 'https://a.test/path',
    SIGNALBOX_PUBLIC_URL: 'https://edge.example/signalbox',
    MAX_STREAMS: '40000',
    MAX_BOARDS: '0',
    SILENT_AFTER: '20',
  }
  expect(() => readConfig(env)).toThrow(ConfigError)
  expect(() => readConfig(env)).toThrow(
    /ALLOWED_ORIGINS.*SIGNALBOX_PUBLIC_URL must hold.*MAX_STREAMS.*MAX_BOARDS.*SILENT_AFTER/,
  )
})

it('reads an empty environment as closed, not as broken', () => {
  expect(readConfig({})).toEqual({
    auth: { secrets: [], issuer: undefined, audience: 'signalbox', problem: undefined },
    allowedOrigins: [],
    publicUrl: undefined,
    room: { all: 10_000, each: 2_500 },
    directory: { maxBoards: 10_000 },
    board: { silentAfterMs: 20 * 60_000 },
    notices: { signing: [] },
  })
  expect(readConfig({ SILENT_AFTER: '90s' }).board.silentAfterMs).toBe(90_000)
})

it('refuses rules of notices that could not be kept, and a secret that cannot sign', () => {
  const webhook = { webhook: 'http://shop.example/x' } as const
  const wrong = [
    { on: 'stalled', to: webhook },
    { on: 'nothing', to: { ntfy: 'https://ntfy.sh/x' } },
  ]
  const file = { notices: wrong } as unknown as SignalboxFile
  expect(() => readConfig({ NOTICE_SECRET: 'geheim' }, file)).toThrow(
    /NOTICE_SECRET: a secret must begin with whsec_; signalbox\.config\.ts: .*must be https, or on this machine.*notices.*must be one of stalled, /,
  )
})

const hostConfig = (env: Environment) => readHostConfig(env, 'node', readConfig(env))

it('refuses a port that is none', () => {
  expect(() => hostConfig({ PORT: 'http' })).toThrow(ConfigError)
})

it('limits the streams of a process and of a subject, and how long a connection is silent', () => {
  expect(hostConfig({})).toMatchObject({
    streams: { all: 10_000, each: 2_500 },
    openRepositories: 200,
    silenceMs: 60_000,
  })
  const env = { MAX_STREAMS: '8', MAX_PROCESS_STREAMS: '100', SILENCE_SECONDS: '5' }
  expect(hostConfig(env)).toMatchObject({
    streams: { all: 100, each: 2 },
    silenceMs: 5_000,
  })
  const names = ['MAX_PROCESS_STREAMS', 'MAX_SUBJECT_STREAMS', 'MAX_OPEN_REPOSITORIES']
  for (const name of [...names, 'SILENCE_SECONDS']) {
    expect(() => hostConfig({ [name]: '0' })).toThrow(name)
  }
})
