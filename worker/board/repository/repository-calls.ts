// What is asked of a repository, wherever it lives. A Durable Object and a process are its hosts:
// they find its database, bring messages to streams, and wake it when something is due.

import type { Log } from '../../shared/log.ts'
import type { ClaimMethods, ClaimTurns } from '../claims/claims.ts'
import type { SendNotice } from '../notices/notice-sender.ts'
import type { NoticeMethods } from '../notices/notices.ts'
import type { OpenRepository } from './open-repository-sqlite.ts'
import type { ClaimOutcome, PublishOutcome, RepositoryHandle } from './repositories.ts'
import type { Published } from './repository.ts'

export interface RepositoryHost {
  /** Undefined: there is no database. To ask about any name at all must make none. */
  find(): OpenRepository | undefined
  make(): OpenRepository
  now(): number
  /** When it was last constructed, ISO 8601. */
  awakeSince(): string
  /** How many there are. */
  streams(): number
  /** To every stream. */
  send(frames: readonly string[]): void
  /** Wakes it for the earliest of what is due. */
  arm(): Promise<void> | void
  sendNotice: SendNotice
  /** Signals the sidecar that it has commands to run. Absent: it asks. */
  signalCommands?(): void
  /** Of this board. */
  log: Log
  /** Its status is asked for. Absent: nothing is looked at. */
  onStatus?(repository: OpenRepository): void
}

/**
 * Sends the notices that are due, behind the turn: a receiver may take its time. Not async: what is
 * thrown in this turn is its caller's, who arms the host: a process that dies before an answer came
 * sends again.
 */
export function deliverDue(host: RepositoryHost, { notices }: OpenRepository): Promise<void> {
  const { requests, hasCommands } = notices.due(host.now())
  if (hasCommands) host.signalCommands?.()
  if (requests.length === 0) return Promise.resolve()
  // Nobody waits for this: thrown, it would end a process, and payments with it.
  const logged = (error: unknown) =>
    host.log('error', 'board.alarm_failed', { error: String(error) })
  const sending = requests.map(async (request) => {
    const sent = await host.sendNotice(request)
    host.find()?.notices.tried(request.id, sent, host.now(), Math.random())
  })
  return Promise.all(sending.map((each) => each.catch(logged)))
    .then(() => host.arm())
    .catch(logged)
}

/** A board whose alarm failed wakes again then: a disk that is full may have room by then. */
export const WAKE_AGAIN_MS = 60_000

/** What is one call and one answer. */
export type RepositoryCalls = Omit<RepositoryHandle, 'attach' | 'subscribe'>

/** Their names, for a host that passes them on. */
export const CALLS = {
  sync: true,
  changes: true,
  read: true,
  claims: true,
  notices: true,
  noticeTurn: true,
  testNotice: true,
  spend: true,
} satisfies Record<keyof RepositoryCalls, true>

export function repositoryCalls(host: RepositoryHost): RepositoryCalls {
  const { find, make, now } = host

  /** Ends a turn, whatever it did: streams get its frames, and the host wakes for what is due. */
  async function ended<Answer>(answer: Answer, frames: readonly string[] = []): Promise<Answer> {
    host.send(frames)
    await host.arm()
    return answer
  }

  async function publish<Answer>(published: Published<Answer>): Promise<PublishOutcome<Answer>> {
    if (!published.ok) return published
    const { frames, ...outcome } = published
    return await ended({ ...outcome, signals: frames.length }, frames)
  }

  return {
    sync: async (request, rules) => publish(make().repository.sync(request, now(), rules)),
    changes: async (request) => publish(make().repository.changes(request, now())),
    async read(query, ifNoneMatch) {
      const known = find()
      if (!known) return { state: 'unpublished' }
      if (query.kind === 'status') host.onStatus?.(known)
      const at = new Date(now()).toISOString()
      const about = { streams: host.streams(), awakeSince: host.awakeSince(), now: at }
      return known.reads.answer(query, about, ifNoneMatch)
    },
    async claims(name, asked) {
      const known = find()
      if (!known) return { ok: false, reason: 'unpublished' }
      const claims: ClaimMethods = known.claims
      const { frames, ...outcome } = claims[name](asked, now())
      return (await ended(outcome, frames)) as ClaimOutcome<ClaimTurns[typeof name]['answer']>
    },
    notices: async () => find()?.notices.shown(),
    async noticeTurn(name, asked) {
      const notices: NoticeMethods | undefined = find()?.notices
      return await ended(notices?.[name](asked, now(), Math.random()))
    },
    async testNotice(on) {
      const known = find()
      const ids = known?.notices.test(on, now())
      if (!known || !ids) return undefined
      // Armed while they are under way, too.
      await ended(deliverDue(host, known))
      return known.notices.deliveries(ids)
    },
    spend: async (id, expiresAt) => make().spend(id, expiresAt, now()),
  }
}
