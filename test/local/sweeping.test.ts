import { describe, expect, it } from 'vitest'
import { LOCAL_SWEEP_EVERY_MS, startSweeping } from '../../local/sweeping.ts'
import { FakeClock } from '../support/fake-clock.ts'

function playground(answer: () => Promise<Response>) {
  const clock = new FakeClock()
  const asked = new AbortController()
  const requests: { url: string; method: string | undefined; authorization: string | null }[] = []
  startSweeping({
    edge: 'http://edge',
    token: 't',
    after: clock.after,
    signal: asked.signal,
    fetch: (url, init) => {
      const authorization = new Headers(init?.headers).get('authorization')
      requests.push({ url: String(url), method: init?.method, authorization })
      return answer()
    },
  })
  return { clock, requests, end: () => asked.abort() }
}

describe('the local cron', () => {
  it('requests a sweep every ten seconds, also after errors', async () => {
    const answers = [new Response('', { status: 404 }), new Response('', { status: 200 })]
    const { clock, requests } = playground(async () => {
      const next = answers.shift()
      if (next) return next
      throw new TypeError('fetch failed')
    })
    await clock.advance(LOCAL_SWEEP_EVERY_MS - 1)
    expect(requests).toEqual([])
    await clock.advance(1)
    expect(requests).toEqual([
      { url: 'http://edge/api/payments/sweep', method: 'POST', authorization: 'Bearer t' },
    ])
    await clock.advance(4 * LOCAL_SWEEP_EVERY_MS)
    expect(requests).toHaveLength(5)
  })

  it('does not request another sweep while one is under way', async () => {
    const { promise, resolve } = Promise.withResolvers<Response>()
    const { clock, requests } = playground(() => promise)
    await clock.advance(5 * LOCAL_SWEEP_EVERY_MS)
    expect(requests).toHaveLength(1)
    resolve(new Response())
    await clock.advance(LOCAL_SWEEP_EVERY_MS)
    expect(requests).toHaveLength(2)
  })

  it('ends with the system, and leaves no timer', async () => {
    const { clock, requests, end } = playground(async () => new Response())
    await clock.advance(LOCAL_SWEEP_EVERY_MS)
    end()
    expect(clock.pending).toBe(0)
    await clock.advance(5 * LOCAL_SWEEP_EVERY_MS)
    expect(requests).toHaveLength(1)
  })
})
