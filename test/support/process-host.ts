// What the boards of this process get: nothing is delivered, and the clock stands still. `own` is
// what a test is about.

import type { ProcessHost } from '../../worker/board/repository/repositories-process.ts'
import { openSql } from '../../worker/shared/sql-node.ts'

export const processHost = (own: Partial<ProcessHost> = {}): ProcessHost => ({
  openSql: () => openSql(':memory:'),
  now: () => 0,
  elapsed: () => 0,
  after: () => () => undefined,
  maxIdle: 8,
  log: () => undefined,
  sendNotice: async () => ({ ok: true, status: 204 }),
  room: { all: 8, each: 8 },
  roomOfAll: { all: 8, each: 8 },
  ...own,
})
