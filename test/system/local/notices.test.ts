import { expect, it } from 'vitest'
import { noticesOf, undeliveredWarning } from '../../../system/local/notices.ts'

const rule = (n: number) => {
  return { on: 'ready' as const, minutes: n, to: { webhook: 'https://a.test/x' } }
}

it('refuses an address of --notify without showing it', () => {
  const notify = 'http://a.test/secret'
  expect(() => noticesOf({}, { notify })).toThrow('--notify must be https, or on this machine.')
})

it('refuses more rules, with those of --notify, than an edge takes: no board would be published', () => {
  const file = (length: number) => ({ notices: Array.from({ length }, (_, n) => rule(n)) })
  const notify = 'https://b.test/x'
  expect(noticesOf(file(56), { notify })).toHaveLength(64)
  expect(() => noticesOf(file(57), { notify })).toThrow(
    'notices must have 64 entries at most, with those of --notify.',
  )
})

it('warns of an address of its own machine where others reach the edge, and nowhere else', () => {
  const rules = noticesOf({}, { notify: 'http://127.0.0.1:9999/secret' })
  const isOurs = { HOST: '127.0.0.1' }
  const isPublic = { ...isOurs, SIGNALBOX_PUBLIC_URL: 'https://board.test' }
  expect(undeliveredWarning(rules, isOurs)).toBeUndefined()
  expect(undeliveredWarning([rule(1)], isPublic)).toBeUndefined()
  for (const variables of [isPublic, { HOST: '0.0.0.0' }]) {
    expect(undeliveredWarning(rules, variables)).toMatch(/notices to 127\.0\.0\.1:9999 are not/)
  }
})
