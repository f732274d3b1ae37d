import { describe, expect, it } from 'vitest'
import { WebhookSender } from '../../../local/simulator/webhook-sender.ts'
import { FakeClock } from '../../support/fake-clock.ts'

const WEBHOOK = { eventId: 'e1', paymentId: 'p1', gateway: 'fib', url: 'u', content: {} } as const
const WAVE = { afterMs: 0, webhooks: [WEBHOOK] }

/** `answers`: statuses of the responses, 0 for an error; then 200. */
function playground(answers: number[] = []) {
  const clock = new FakeClock()
  const start = clock.now()
  const posts: number[] = []
  const webhooks = new WebhookSender({
    clock,
    encode: async () => ({ headers: {}, body: '{}' }),
    async post() {
      posts.push(clock.now() - start)
      const status = answers.shift() ?? 200
      if (status === 0) throw new TypeError('fetch failed', { cause: new Error('ECONNREFUSED') })
      return { status, text: 'word' }
    },
    retriesMs: [1_000, 2_000],
  })
  return { clock, webhooks, posts }
}

describe('the webhook sender', () => {
  it('sends an accepted webhook once', async () => {
    const { clock, webhooks, posts } = playground([204])
    const done = webhooks.send([WAVE])
    await clock.advance(60_000)
    await done
    expect(posts).toEqual([0])
    expect(webhooks.sent).toMatchObject([{ attempt: 1, status: 204, answer: 'word' }])
  })

  it('retries with the same event id and the configured waits, until the response is 2xx', async () => {
    const { clock, webhooks, posts } = playground([500, 0])
    const done = webhooks.send([WAVE])
    await clock.advance(60_000)
    await done
    expect(posts).toEqual([0, 1_000, 3_000])
    expect(webhooks.sent.map(({ eventId, attempt, status }) => [eventId, attempt, status])).toEqual(
      [
        ['e1', 1, 500],
        ['e1', 2, null],
        ['e1', 3, 200],
      ],
    )
    expect(webhooks.sent[1]?.error).toBe('ECONNREFUSED')
  })

  it('gives up after the last attempt', async () => {
    const { clock, webhooks, posts } = playground([401, 401, 401, 200])
    const done = webhooks.send([WAVE])
    await clock.advance(60_000)
    await done
    expect(posts).toHaveLength(3)
  })

  it('delays a batch, and sends the next one only after the responses', async () => {
    const { clock, webhooks, posts } = playground([500])
    const done = webhooks.send([{ ...WAVE, afterMs: 300 }, WAVE])
    await clock.advance(60_000)
    await done
    expect(posts).toEqual([300, 1_300, 1_300])
  })

  it('sends nothing after close()', async () => {
    const { clock, webhooks, posts } = playground([500])
    void webhooks.send([WAVE])
    await clock.advance(0)
    webhooks.close()
    await clock.advance(60_000)
    expect(posts).toEqual([0])
    expect(clock.pending).toBe(0)
  })
})
