// The ledger of one deployment: its database, its desk, and who is to be told. Wiring only.

import type { Clock } from '../../../shared/clock.ts'
import type { Log } from '../../../shared/log.ts'
import type { PaymentsConfig } from '../../config.ts'
import { type BreakerStore, createDesk } from '../../gateways/guard/guard-process.ts'
import { audienceOf } from '../../outbox/subscribers.ts'
import type { Ledger } from '../ledger.ts'
import { libsqlDatabase } from './database-libsql.ts'
import { createLibsqlLedger } from './ledger-libsql.ts'

export interface OpenLedgerDeps {
  config: PaymentsConfig
  breakers: BreakerStore
  clock: Clock
  log: Log
  fetch: typeof fetch
}

export function openLibsqlLedger(deps: OpenLedgerDeps): Ledger {
  const { config, breakers, clock, log, fetch } = deps
  const { gateways, listeners, endpoint } = config
  return createLibsqlLedger({
    database: libsqlDatabase(config.database, clock.now),
    desk: createDesk({ gateways, store: breakers, clock, log, fetch }),
    audience: audienceOf(listeners, endpoint),
    clock,
    log,
  })
}
