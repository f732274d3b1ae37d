import { describe, expect, it } from 'vitest'
import { FakeClock } from '../../../../libraries/testing/fake-clock.ts'
import {
  createRefusals,
  type RefusedRow,
  type RefusedWebhooks,
} from '../../../../worker/payments/ledger/refused-webhooks.ts'

const row = (at: number, count = 1, more: Partial<RefusedRow> = {}): RefusedRow => ({
  at,
  gateway: 'bank',
  reason: 'invalid',
  count,
  ...more,
})

describe('the count of refused webhooks', () => {
  it('has one row for each minute, gateway and reason', async () => {
    const refusals = createRefusals(new FakeClock())
    await refusals.countRefused([row(960_000, 2), row(960_000, 1, { reason: 'stale' })])
    await refusals.countRefused([
      row(960_000, 3),
      row(1_020_000),
      row(960_000, 1, { gateway: 'b' }),
    ])
    const { rows } = await refusals.refused(0)
    expect(rows).toHaveLength(4)
    expect(rows).toContainEqual(row(960_000, 5))
    expect((await refusals.refused(1_020_000)).rows).toEqual([row(1_020_000)])
  })

  it('goes on after a restart where its store does, and forgets what is older than a day', async () => {
    const clock = new FakeClock()
    const store = new Map<'refused', RefusedWebhooks>()
    const since = clock.now()
    await createRefusals(clock, store).countRefused([row(since)])
    await clock.advance(24 * 3_600_000)
    const again = createRefusals(clock, store)
    expect(await again.refused(0)).toEqual({ since, rows: [row(since)] })
    await clock.advance(60_000)
    await again.countRefused([row(clock.now())])
    expect(await again.refused(0)).toEqual({ since, rows: [row(clock.now())] })
  })
})
