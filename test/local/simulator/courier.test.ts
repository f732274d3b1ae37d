import { describe, expect, it } from 'vitest'
import { Courier } from '../../../local/simulator/courier.ts'
import { FakeClock } from '../../support/fake-clock.ts'

const WEBHOOK = { eventId: 'e1', paymentId: 'p1', gateway: 'fib', url: 'u', content: {} } as const
const WAVE = { afterMs: 0, webhooks: [WEBHOOK] }

/** `answers`: statuses, an error where it is 0; then 200. */
function playground(answers: number[] = []) {
  const clock = new FakeClock()
  const start = clock.now()
  const posts: number[] = []
  const courier = new Courier({
    clock,
    encode: async () => '{}',
    async post() {
      posts.push(clock.now() - start)
      const status = answers.shift() ?? 200
      if (status === 0) throw new TypeError('fetch failed', { cause: new Error('ECONNREFUSED') })
      return { status, text: 'word' }
    },
    retriesMs: [1_000, 2_000],
  })
  return { clock, courier, posts }
}

describe('the courier', () => {
  it('sends a webhook that was taken once', async () => {
    const { clock, courier, posts } = playground([204])
    const done = courier.send([WAVE])
    await clock.advance(60_000)
    await done
    expect(posts).toEqual([0])
    expect(courier.sent).toMatchObject([{ attempt: 1, status: 204, answer: 'word' }])
  })

  it('sends it again, spaced and under the same event id, until it is answered with 2xx', async () => {
    const { clock, courier, posts } = playground([500, 0])
    const done = courier.send([WAVE])
    await clock.advance(60_000)
    await done
    expect(posts).toEqual([0, 1_000, 3_000])
    expect(courier.sent.map(({ eventId, attempt, status }) => [eventId, attempt, status])).toEqual([
      ['e1', 1, 500],
      ['e1', 2, null],
      ['e1', 3, 200],
    ])
    expect(courier.sent[1]?.error).toBe('ECONNREFUSED')
  })

  it('gives it up after the last attempt', async () => {
    const { clock, courier, posts } = playground([401, 401, 401, 200])
    const done = courier.send([WAVE])
    await clock.advance(60_000)
    await done
    expect(posts).toHaveLength(3)
  })

  it('sends a wave late, and the next one only after it was answered', async () => {
    const { clock, courier, posts } = playground([500])
    const done = courier.send([{ ...WAVE, afterMs: 300 }, WAVE])
    await clock.advance(60_000)
    await done
    expect(posts).toEqual([300, 1_300, 1_300])
  })

  it('sends nothing any more after its end', async () => {
    const { clock, courier, posts } = playground([500])
    void courier.send([WAVE])
    await clock.advance(0)
    courier.close()
    await clock.advance(60_000)
    expect(posts).toEqual([0])
    expect(clock.pending).toBe(0)
  })
})
