// The ledger of one deployment: its database, its guard, and who gets its events. Wiring only.

import type { Clock } from '../../../shared/clock.ts'
import type { Log } from '../../../shared/log.ts'
import type { PaymentsConfig } from '../../config.ts'
import { type BreakerStore, circuitOf, createGuard } from '../../gateways/guard/guard-process.ts'
import type { PaymentsMetrics } from '../../metrics.ts'
import type { Dispatch, WakeAt } from '../../outbox/dispatch.ts'
import { subscribersOf } from '../../outbox/endpoint.ts'
import { createLedger } from '../create-ledger.ts'
import type { Ledger } from '../ledger.ts'
import type { Database } from './http-libsql.ts'
import { libsqlStore } from './store-libsql.ts'

export interface OpenLedgerDeps {
  config: PaymentsConfig
  database: Database
  breakers: BreakerStore
  /** Where the runtime dispatches what was committed. */
  dispatch: Dispatch
  /** Gets the work that continues after the answers, for a host that ends gracefully. */
  keepAlive?: (work: Promise<unknown>) => void
  /** For `dispatchDue`. */
  wakeAt?: WakeAt
  clock: Clock
  log: Log
  fetch: typeof fetch
  metrics: PaymentsMetrics
}

export function openLibsqlLedger(deps: OpenLedgerDeps): Ledger {
  const { config, database, breakers, dispatch, clock, log, fetch, metrics, ...rest } = deps
  const { gateways, listeners, endpoint, references } = config
  const guard = createGuard({ gateways, store: breakers, clock, log, fetch })
  return createLedger({
    store: metrics.store(libsqlStore(database)),
    guard: metrics.guard(
      guard,
      (gateway, kind) => breakers.get(circuitOf(gateway, kind))?.openUntil !== undefined,
    ),
    subscribers: subscribersOf(listeners, endpoint),
    references,
    ...rest,
    dispatch: metrics.dispatch(dispatch),
    groups: metrics.group,
    clock,
    log,
  })
}
