import { expect, it } from 'vitest'
import { ConfigError, readConfig, readHostConfig } from '../../worker/config.ts'

it('names every malformed variable in one error', () => {
  const env = {
    ALLOWED_ORIGINS: 'https://a.test/path',
    MAX_STREAMS: '40000',
  }
  expect(() => readConfig(env)).toThrow(ConfigError)
  expect(() => readConfig(env)).toThrow(/ALLOWED_ORIGINS.*MAX_STREAMS/)
})

it('reads an empty environment as closed, not as broken', () => {
  expect(readConfig({})).toEqual({
    auth: { secrets: [], issuer: undefined, audience: 'signalbox', problem: undefined },
    allowedOrigins: [],
    maxStreams: 10_000,
  })
})

it('refuses a port that is none', () => {
  expect(() => readHostConfig({ PORT: 'http' }, 'node')).toThrow(ConfigError)
})
