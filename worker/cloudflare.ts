// The edge on Cloudflare: fetch, scheduled, the dispatcher and the object classes. Wiring only.

import { DurableObject, WorkerEntrypoint, waitUntil } from 'cloudflare:workers'
import { Hono } from 'hono'
import { type RequestIdVariables, requestId } from 'hono/request-id'
import { createApp } from './app.ts'
import { DirectoryObject, objectDirectory } from './board/directory/directory-object.ts'
import { boardMetrics } from './board/metrics.ts'
import { objectRepositories } from './board/repository/repositories-object.ts'
import { RepositoryObject } from './board/repository/repository-object.ts'
import { STREAM_LIMITS } from './board/streams/stream.ts'
import { ConfigError, type Environment, readConfig } from './config.ts'
import { type AssetsBinding, cloudflareAssets } from './console/assets.ts'
import type { PendingEvent } from './payments/acts/dispatch.ts'
import type { PaymentsConfig } from './payments/config/payments-config.ts'
import type { SignalboxFile } from './payments/define-config.ts'
import { type BreakerState, createGuard } from './payments/gateways/guard.ts'
import { openLedger } from './payments/ledger/ledger.ts'
import { libsqlDatabase } from './payments/ledger/libsql/http-libsql.ts'
import { comparing, Installation } from './payments/ledger/libsql/ledger-row-libsql.ts'
import { createRefusals, type RefusalStore } from './payments/ledger/refused-webhooks.ts'
import {
  answersOf,
  type LedgerApi,
  type LedgerCall,
  type LedgerNamespace,
  objectLedger,
} from './payments/ledger/rpc.ts'
import { countingLog } from './payments/metrics.ts'
import { createDeliverer, type Deliverer, subscribersOf } from './payments/outbox/deliver.ts'
import { DUE_BATCH } from './payments/outbox/dispatch.ts'
import { createPayments, type Payments } from './payments/payments.ts'
import { libsqlQueries } from './payments/queries/queries-libsql.ts'
import { objectEndedSessions, SessionsObject } from './session/ended-sessions-object.ts'
import { accessMetrics, createAccess } from './shared/access.ts'
import { hostClock } from './shared/clock.ts'
import { consoleLog } from './shared/log.ts'
import { isLoopback } from './shared/loopback.ts'
import { logMetrics } from './shared/metrics.ts'
import { Problem, problemResponse } from './shared/problem.ts'

interface Env extends Environment {
  REPOSITORY: DurableObjectNamespace<RepositoryObject>
  LEDGER: LedgerNamespace
  SESSIONS: DurableObjectNamespace<SessionsObject>
  DIRECTORY: DurableObjectNamespace<DirectoryObject>
  ASSETS?: AssetsBinding
}

/** What the ledger finds in `ctx.exports`: the exports of the Worker's entry. */
interface Exports {
  Dispatcher: { dispatch(pending: string, called?: () => void): Promise<string> }
}

interface Edge {
  app: ReturnType<typeof createApp>
  payments: Payments | undefined
}

/** The numbers of this isolate. */
const counted = logMetrics(consoleLog, hostClock)

const host = {
  clock: hostClock,
  log: consoleLog,
  // fetch throws unless it is called on globalThis.
  fetch: (input: RequestInfo | URL, init?: RequestInit) => fetch(input, init),
}

/** What the entry of a Worker exports: the handler as its default, the classes by their names. */
export function signalbox(file: SignalboxFile) {
  const delivererFor = oncePerIsolate((env) =>
    createDeliverer({ ...paymentsConfig(env, file), ...host }),
  )
  const edgeFor = oncePerIsolate((env) => openEdge(env, file, delivererFor))

  /**
   * The ledger and its guard: a shell around the one writer of a database. Its memory (tokens, the
   * queue of writes) may be lost at any time.
   */
  class LedgerObject extends DurableObject<Env> {
    readonly #answer = answersOf(() => this.#open(), consoleLog)

    call(call: string): Promise<string> {
      return this.#answer(call)
    }

    /** Events that were not delivered are due again. A failure is logged, and the sweeper's. */
    override async alarm(): Promise<void> {
      const due = { now: hostClock.now(), limit: DUE_BATCH }
      const call: LedgerCall = { name: 'dispatchDue', args: [due] }
      await this.#answer(JSON.stringify(call))
    }

    #open(): LedgerApi {
      const { storage, exports } = this.ctx
      const { Dispatcher } = exports as unknown as Exports
      // Kept on disk: an object with nothing to do is put away long before a circuit closes again.
      const breakers = {
        get: (gateway: string) => storage.kv.get<BreakerState>(`breaker:${gateway}`),
        set: (gateway: string, state: BreakerState) => storage.kv.put(`breaker:${gateway}`, state),
      }
      const refusals: RefusalStore = {
        get: (name) => storage.kv.get(name),
        set: (name, value) => storage.kv.put(name, value),
      }
      const config = paymentsConfig(this.env, file)
      const { listeners, endpoint, rules } = config
      const counting = { ...host, log: countedLog(config) }
      const guard = createGuard({ ...config, store: breakers, ...counting })
      const ledger = openLedger({
        database: libsqlDatabase(config.database, hostClock.now),
        installation: new Installation(config.installation),
        subscribers: subscribersOf(listeners, endpoint),
        rules,
        deliver: async (pending, called) =>
          JSON.parse(await Dispatcher.dispatch(JSON.stringify(pending), called)),
        wakeAt: (at) => void storage.setAlarm(at),
        ...counting,
      })
      return { ...ledger, ...guard, ...createRefusals(hostClock, refusals) }
    }
  }

  /**
   * Calls listeners and the endpoint in invocations of their own, which the ledger begins: each may
   * hold six connections, and one that hangs holds up no write. A list of events and a list of what
   * came of them, as JSON: the runtime takes several times as long to copy the objects.
   */
  class Dispatcher extends WorkerEntrypoint<Env> {
    async dispatch(pending: string, called?: () => void): Promise<string> {
      const events = JSON.parse(pending) as PendingEvent[]
      return JSON.stringify(await delivererFor(this.env).deliver(events, called))
    }
  }

  const handler = {
    fetch(request: Request, env: Env): Response | Promise<Response> {
      let edge: Edge
      try {
        edge = edgeFor(env)
      } catch (error) {
        return refuseAll(error).fetch(request)
      }
      return edge.app.fetch(request)
    },

    async scheduled(_controller: ScheduledController, env: Env): Promise<void> {
      await edgeFor(env).payments?.sweeper.sweep()
      counted.flush()
    },
  }
  return { handler, RepositoryObject, LedgerObject, SessionsObject, DirectoryObject, Dispatcher }
}

/** Answers 503 while the configuration is invalid. */
function refuseAll(error: unknown): Hono<{ Variables: RequestIdVariables }> {
  const app = new Hono<{ Variables: RequestIdVariables }>()
  app.use(requestId({ headerName: 'X-Request-Id' }))
  app.all('*', (c) => {
    consoleLog('error', 'config.refused', { requestId: c.get('requestId'), error: String(error) })
    const problem = new Problem('misconfigured', 'The edge is misconfigured: see its log.')
    const answer = problemResponse(problem)
    // A bare Response would lose the id.
    return c.newResponse(answer.body, answer)
  })
  return app
}

/** What throws is tried again with the next request. */
function oncePerIsolate<Opened>(open: (env: Env) => Opened): (env: Env) => Opened {
  let opened: Opened | undefined
  return (env) => {
    opened ??= open(env)
    return opened
  }
}

function paymentsConfig(env: Env, file: SignalboxFile): PaymentsConfig {
  const { payments } = readConfig(env, file)
  if (!payments) throw new ConfigError('The ledger needs LIBSQL_URL.')
  return payments
}

const countedLog = ({ gateways }: PaymentsConfig) =>
  countingLog(counted.metrics, gateways.keys(), consoleLog)

function openEdge(env: Env, file: SignalboxFile, delivererFor: (env: Env) => Deliverer): Edge {
  const config = readConfig(env, file)
  const payments = config.payments && openPayments(config.payments, env, delivererFor(env))
  const app = createApp({
    config,
    repositories: objectRepositories({
      namespace: env.REPOSITORY,
      room: config.room,
      clock: hostClock,
      log: consoleLog,
    }),
    directory: objectDirectory(env.DIRECTORY),
    payments,
    hostFetch: file.fetch,
    assets: cloudflareAssets(env.ASSETS),
    access: createAccess(config.auth, {
      ...host,
      endedSessions: objectEndedSessions(env.SESSIONS),
      metrics: accessMetrics(counted.metrics),
    }),
    clock: hostClock,
    log: consoleLog,
    // On one machine; none is set in the cloud.
    isOnLoopback: isLoopback(String(env.HOST)),
    // A Worker's CPU budget is per stream.
    limits: { ...STREAM_LIMITS, ageMs: 30 * 60_000 },
    metrics: boardMetrics(counted.metrics),
  })
  return { app, payments }
}

function openPayments(config: PaymentsConfig, env: Env, deliverer: Deliverer): Payments {
  // One object for each database: two would be two writers.
  const name = new URL(config.database.url).host
  const { ledgerLocation: locationHint } = config
  const hint = locationHint !== undefined && { locationHint }
  const database = libsqlDatabase(config.database, hostClock.now)
  const installation = new Installation(config.installation)
  const ledger = objectLedger({ namespace: env.LEDGER, name, ...hint, clock: hostClock })
  return createPayments({
    config,
    ledger,
    guard: ledger,
    refusals: ledger,
    queries: libsqlQueries(database, comparing(installation, database, hostClock.now)),
    deliverer,
    keepAlive: waitUntil,
    ...host,
    log: countedLog(config),
  })
}
