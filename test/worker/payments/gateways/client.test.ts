import { describe, expect, it } from 'vitest'
import { FakeClock } from '../../../../libraries/testing/fake-clock.ts'
import {
  GatewaySetup,
  json,
  noConnection,
  page,
} from '../../../../libraries/testing/gateway-setup.ts'
import { TooManyCallbacks } from '../../../../worker/payments/domain/exceptions.ts'
import type { Purpose } from '../../../../worker/payments/gateways/callbacks.ts'
import { createClient } from '../../../../worker/payments/gateways/client.ts'
import type { GatewayCall } from '../../../../worker/payments/gateways/gateway.ts'
import type { Admission, Verdict } from '../../../../worker/payments/gateways/guard.ts'
import { redirect } from '../../../../worker/payments/gateways/redirect/redirect.ts'
import { SETTINGS } from '../../../support/redirect-fixtures.ts'

const shop = redirect.create('shop', SETTINGS)
const ask = (call: GatewayCall) =>
  call.send({ endpoint: 'x', method: 'POST', url: 'https://gateway.test/x', isIdempotent: false })

/** A guard that returns `admission` and records reports. */
function guardWith(
  admission: Admission,
  opened: () => Promise<boolean> = async () => false,
  onAdmit: () => void = () => undefined,
) {
  const reports: Verdict[] = []
  const openings: unknown[] = []
  const client = createClient({
    guard: {
      admit: async () => {
        onAdmit()
        return admission
      },
      report: async (_, _kind, verdict) => {
        reports.push(verdict)
        return { opened: await opened() }
      },
      accessToken: async () => ({ ok: false, message: 'none' }),
      health: async () => ({}),
    },
    clock: new FakeClock(),
    log: () => undefined,
    fetch: async () => json({}),
    notify: (name, event) => {
      if (name === 'CircuitOpened') openings.push(event)
    },
  })
  return { client, reports, openings }
}

describe('a call of a gateway', () => {
  it('runs the work with a call, and reports its result once', async () => {
    const { client, reports } = guardWith({ ok: true })
    const two = async (call: GatewayCall) => {
      await ask(call)
      await ask(call)
      return 'done'
    }
    expect(await client.run(shop, 'charge', two)).toBe('done')
    expect(reports).toEqual(['success'])
  })

  it('reports once when the work throws, and rethrows the error', async () => {
    const { client, reports } = guardWith({ ok: true })
    const broken = client.run(shop, 'charge', async () => {
      throw new Error('driver')
    })
    await expect(broken).rejects.toThrow('driver')
    expect(reports).toEqual(['neutral'])
  })

  it('reports once when the work throws synchronously', async () => {
    const { client, reports } = guardWith({ ok: true })
    const broken = client.run(shop, 'charge', () => {
      throw new Error('driver')
    })
    await expect(broken).rejects.toThrow('driver')
    expect(reports).toEqual(['neutral'])
  })

  it.each(['circuit_open', 'rate_limited'] as const)(
    'neither runs the work nor reports when the guard returns %s, and has its Retry-After',
    async (reason) => {
      const { client, reports } = guardWith({ ok: false, reason, retryAfterMs: 1_234 })
      let works = 0
      const refused = client.run(shop, 'charge', async () => works++, { purpose: 'unproven' })
      await expect(refused).rejects.toMatchObject({
        code: 'gateway_unavailable',
        retryAfterMs: 1_234,
      })
      expect([works, reports]).toEqual([0, []])
    },
  )

  it('asks the guard for callbacks no more often than the guard would admit', async () => {
    let asked = 0
    const { client } = guardWith({ ok: true }, undefined, () => asked++)
    const run = (purpose: Purpose) => client.run(shop, 'charge', async () => undefined, { purpose })
    const all = await Promise.allSettled(Array.from({ length: 200 }, () => run('unproven')))
    expect([asked, all.filter(({ status }) => status === 'fulfilled').length]).toEqual([10, 10])
    await expect(run('unproven')).rejects.toBeInstanceOf(TooManyCallbacks)
    for (let call = 0; call < 20; call++) await run({ proven: `payment-${call}` })
    for (let call = 0; call < 20; call++) await run('call')
  })

  it('fires CircuitOpened when its report opened the circuit', async () => {
    const { client, openings } = guardWith({ ok: true }, async () => true)
    await client.run(shop, 'charge', ask)
    expect(openings).toEqual([{ gateway: 'shop', kind: 'charge' }])
  })

  it('does not end the probe of another call, whether it failed or came to nothing', async () => {
    for (const work of [async () => undefined, ask]) {
      const setup = new GatewaySetup(shop, () => page('Sorry', 502))
      const { client, guard, clock } = setup
      const before = await client.admit(shop, 'charge')
      for (let call = 0; call < 5; call++) await guard.report('shop', 'charge', 'failure')
      await clock.advance(30_000)
      const probe = await client.admit(shop, 'charge')
      if (!before.ok || !probe.ok) throw new Error('not admitted')
      await setup.end(work(before.call).catch(() => undefined))
      await before.end()
      expect((await client.admit(shop, 'charge')).ok).toBe(false)
      await probe.end()
      expect((await client.admit(shop, 'charge')).ok).toBe(true)
    }
  })

  it('has the guard keep what failed, without the answer of the gateway', async () => {
    const setup = new GatewaySetup(shop, () => page('<p>secret</p>', 502))
    await expect(setup.end(setup.client.run(shop, 'charge', ask))).rejects.toThrow()
    const { shop: circuits } = await setup.guard.health(['shop'])
    expect(circuits?.charge.lastFailure).toMatch(/^[\w/{}]+: answered 502$/)
  })

  it('returns the result of the work when the report fails', async () => {
    const unreachable = () => Promise.reject(new Error('away'))
    const { client } = guardWith({ ok: true }, unreachable)
    expect(await client.run(shop, 'charge', async () => 'done')).toBe('done')
  })

  it('does not open a circuit because of callbacks, but closes one that a charge opened', async () => {
    const setup = new GatewaySetup(shop, noConnection)
    const run = (purpose: Purpose) => setup.end(setup.client.run(shop, 'charge', ask, { purpose }))
    const proven = { proven: 'payment-1' }
    for (let call = 0; call < 8; call++) await expect(run('unproven')).rejects.toThrow()
    for (let call = 0; call < 8; call++) await expect(run(proven)).rejects.toThrow()
    expect([setup.sent.length, setup.openings]).toEqual([16, []])
    for (let call = 0; call < 5; call++) await expect(run('call')).rejects.toThrow()
    expect(setup.openings).toHaveLength(1)
    setup.answer = () => json({})
    await setup.clock.advance(30_000)
    await run(proven)
    await run('call')
    await run('call')
  })

  it('opens the circuit of the real guard once after five failures, and closes it later', async () => {
    const setup = new GatewaySetup(shop, noConnection)
    const run = () => setup.end(setup.client.run(shop, 'charge', ask))
    for (let call = 0; call < 8; call++) await expect(run()).rejects.toThrow()
    expect(setup.sent).toHaveLength(5)
    expect(setup.openings).toEqual([{ gateway: 'shop', kind: 'charge' }])
    setup.answer = () => json({})
    await setup.clock.advance(30_000)
    await run()
    await run()
    expect(setup.openings).toHaveLength(1)
  })
})
