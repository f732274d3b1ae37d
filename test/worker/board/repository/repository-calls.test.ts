import { expect, it } from 'vitest'
import type { SealedRule } from '../../../../worker/board/notices/notice-calls.ts'
import { openRepository } from '../../../../worker/board/repository/open-repository-sqlite.ts'
import { deliverDue } from '../../../../worker/board/repository/repository-calls.ts'
import { EMPTY_HASH } from '../../../../worker/board/wire.ts'
import type { Sent } from '../../../../worker/shared/outgoing.ts'
import { openSql } from '../../../../worker/shared/sql-node.ts'

const NOW = Date.parse('2026-11-29T12:00:00Z')
const rule = (host: string): SealedRule => ({ on: 'offline', to: 'ntfy', host, sealed: host })

it('stores what came of each notice at once, and arms once after the last, also if one fails', async () => {
  const known = openRepository(openSql(':memory:'))
  const store = { state: 'present', version: '1' } as const
  const rules = ['a.test', 'b.test'].map(rule)
  const root = { step: 'root', run: null, root: EMPTY_HASH, store } as const
  known.repository.sync(root, NOW, { board: 'shop', rules })
  const [quick = '', slow = ''] = known.notices.test('offline', NOW) ?? []
  const answers = new Map([quick, slow].map((id) => [id, Promise.withResolvers<Sent>()]))
  const logged: string[] = []
  let armed = 0
  const host = {
    find: () => known,
    make: () => known,
    now: () => NOW,
    awakeSince: () => '',
    streams: () => 0,
    send: () => undefined,
    arm: () => void armed++,
    sendNotice: async ({ id }: { id: string }) => (await answers.get(id)?.promise) as Sent,
    log: (_: string, event: string) => logged.push(event),
  }
  const all = deliverDue(host, known)
  answers.get(quick)?.resolve({ ok: true, status: 204 })
  const stateOf = (id: string) => known.notices.deliveries([id])[0]?.state
  await expect.poll(() => stateOf(quick)).toBe('delivered')
  // A process that dies now wakes for the other one by what it was armed for.
  expect([armed, known.nextDue()]).toEqual([0, NOW + 30_000])
  answers.get(slow)?.reject(new Error('database or disk is full'))
  await all
  expect([armed, logged, stateOf(slow)]).toEqual([1, ['board.alarm_failed'], 'pending'])
})
