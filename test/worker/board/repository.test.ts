import { expect, it } from 'vitest'
import { openRepository } from '../../../worker/board/open-repository-sqlite.ts'
import { EMPTY_HASH, REPORT_MS, type SyncRequest } from '../../../worker/board/wire.ts'
import { openSql } from '../../../worker/shared/sql-node.ts'

const root = (run: number | null): SyncRequest => ({
  step: 'root',
  run,
  root: EMPTY_HASH,
  store: { state: 'present', version: '1' },
})
const HOUR = 3_600_000

/** A repository with two sidecars, of which the later one was heard of at `now`. */
function rivals(now: number) {
  const sql = openSql(':memory:')
  const { repository } = openRepository(sql)
  repository.sync(root(null), now)
  repository.sync(root(null), now)
  return repository
}

it('keeps a sidecar waiting for as long as the later one reports', () => {
  const repository = rivals(0)
  for (let now = REPORT_MS; now < HOUR; now += REPORT_MS) {
    expect(repository.sync(root(1), now - 1)).toEqual({ ok: false, reason: 'superseded' })
    expect(repository.sync(root(2), now)).toMatchObject({ ok: true })
  }
})

it('lets a sidecar publish within a minute after the later one was killed', () => {
  const repository = rivals(0)
  expect(repository.sync(root(1), REPORT_MS)).toMatchObject({ ok: false })
  expect(repository.sync(root(1), 55_000)).toMatchObject({ ok: true, answer: { run: 3 } })
  expect(repository.sync(root(2), 55_001)).toEqual({ ok: false, reason: 'superseded' })
})

it.each([HOUR, 24 * HOUR, 365 * 24 * HOUR])(
  'lets nobody wait for a clock that was set back by %i ms',
  (ms) => {
    const repository = rivals(ms)
    expect(repository.sync(root(1), 0)).toMatchObject({ ok: true, answer: { run: 3 } })
    expect(repository.sync(root(1), 1)).toEqual({ ok: false, reason: 'superseded' })
  },
)
