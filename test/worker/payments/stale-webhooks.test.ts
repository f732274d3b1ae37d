import { expect, it } from 'vitest'
import { FakeClock } from '../../../libraries/testing/fake-clock.ts'
import { withHealthz } from '../../../worker/healthz-process.ts'
import { staleWebhooks } from '../../../worker/payments/metrics.ts'

const WARNING = 'The last 3 webhooks were refused as stale: is this machine’s clock right?'

function setUp() {
  const clock = new FakeClock()
  const lines: string[] = []
  const stale = staleWebhooks(clock, (_, event) => lines.push(event))
  const answers = (...bodies: string[]) => {
    for (const outcome of bodies) stale.log('debug', 'payments.webhook.answered', { outcome })
  }
  return { ...stale, clock, lines, answers }
}

it('warns from the third webhook on that is refused as stale, until one is not, or for an hour', async () => {
  const { warnings, clock, answers } = setUp()
  answers('stale', 'stale')
  expect(warnings()).toEqual([])
  // A forged one says nothing of the clock.
  answers('invalid', 'unknown', 'ignored', 'error', 'stale')
  expect(warnings()).toEqual([WARNING])
  answers('ok')
  expect(warnings()).toEqual([])
  answers('stale', 'duplicate', 'stale', 'unavailable', 'stale', 'stale', 'stale')
  await clock.advance(3_599_999)
  expect(warnings()).toEqual([WARNING])
  await clock.advance(1)
  expect(warnings()).toEqual([])
})

it('passes on every line of the log', () => {
  const { log, lines, answers } = setUp()
  answers('ok')
  log('info', 'edge.listening', { url: 'http://127.0.0.1:1' })
  expect(lines).toEqual(['payments.webhook.answered', 'edge.listening'])
})

it('leaves /healthz at 200, since a replayed webhook must not take a shop out of its proxy', async () => {
  const { warnings, answers } = setUp()
  const check = async () => undefined
  const { fetch } = withHealthz({}, check, async () => warnings())
  const answer = async () => {
    const response = await fetch?.(new Request('http://localhost/healthz'), undefined as never)
    return [response?.status, await response?.json()]
  }
  expect(await answer()).toEqual([200, { status: 'ok' }])
  answers('stale', 'stale', 'stale')
  expect(await answer()).toEqual([200, { status: 'ok', warnings: [WARNING] }])
})
