import { expect, it } from 'vitest'
import type { DueRequest } from '../../../../worker/board/notices/notice-deliveries.ts'
import {
  createNoticeSender,
  SEALED_FOR,
  textOf,
} from '../../../../worker/board/notices/notice-sender.ts'
import { hostClock } from '../../../../worker/shared/clock.ts'
import { createSeal } from '../../../../worker/shared/seal.ts'
import { SECRET } from '../../../support/edge.ts'

const NOTICE = { causes: [{ on: 'offline' as const, since: '2026-11-29T12:00:00.000Z' }] }

/** Where one was sent that is to go to `url`. */
async function sentTo(url: string, { allowsLoopback = false, secret = '', to = 'ntfy' } = {}) {
  const asked: string[] = []
  const send = createNoticeSender({
    secrets: [SECRET],
    signing: secret.split(' ').filter(Boolean),
    allowsLoopback,
    clock: hostClock,
    async fetch(input) {
      asked.push(String(input))
      return new Response(null, { status: 204 })
    },
  })
  const [sealed] = await createSeal([SECRET], SEALED_FOR).close(url)
  const request = { id: 'ntc_1', board: 'shop', to, sealed, notice: NOTICE, at: 0 } as DueRequest
  const sent = await send(request)
  return { sent, asked }
}

it.each([
  'http://127.0.0.1:9200/x',
  'https://localhost/x',
  'http://[::1]:80/',
  'https://127.1/',
  'https://0.0.0.0:8443/',
  'https://0/',
  'https://db.localhost/',
  'https://localhost./',
  'https://[::]/',
  'https://[::ffff:127.0.0.1]/',
])('sends nothing to %s where others reach the edge: it may be its own machine', async (url) => {
  const error = 'Others reach this edge, so it sends nothing to its own machine.'
  expect(await sentTo(url)).toEqual({ sent: { ok: false, error }, asked: [] })
  const { sent } = await sentTo(url, { allowsLoopback: true })
  expect(sent).toEqual({ ok: true, status: 204 })
})

it.each(['https://ntfy.sh/x', 'https://10.0.0.7/x', 'https://localhost.example/'])(
  'sends to %s, whoever reaches the edge',
  async (url) => {
    expect(await sentTo(url)).toEqual({ sent: { ok: true, status: 204 }, asked: [url] })
  },
)

it.each(['', 'geheim'])(
  'says so, and sends nothing, where the secret "%s" cannot sign',
  async (secret) => {
    const { sent, asked } = await sentTo('https://a.test/x', { to: 'webhook', secret })
    expect(sent).toEqual({ ok: false, error: 'No valid NOTICE_SECRET is set: nothing can sign.' })
    expect(asked).toEqual([])
  },
)

it('has a title on one line, without what rewrites a line', () => {
  const causes = [{ on: 'blocked' as const, since: '', task: 'A', title: 'a\0b\nc\u202e' }]
  const text = 'Signalbox, shop:\nBlocked: A a\\u{0}b c\\u{202e}'
  expect(textOf({ causes }, 'shop')).toBe(text)
})
