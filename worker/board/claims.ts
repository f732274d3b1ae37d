// Who may work on which task: one agent, one task. A claim is a lease that its holder renews. It is
// laid over what the sidecar publishes, and in no record of it. Pure except for its stores.

import { nextOf } from '../../libraries/client/next-task.ts'
import { canBegin, toDoIn } from '../../libraries/client/to-do.ts'
import type { BoardStore } from './board-store-sqlite.ts'
import { type Claim, type ClaimEnd, type ClaimStore, sessionId } from './claim-store-sqlite.ts'
import type { StoredTask } from './columns-sqlite.ts'
import { messageFrame } from './sse.ts'
import type { BoardConfig, Session } from './wire.ts'

export interface ClaimRequest {
  /** The hash of its secret. */
  hash: string
  actor: string
  task?: string
  label?: string
  parent?: string
  assignee?: string
  tree?: string
  ttlMs: number
  /** How many the actor may hold, with this one. */
  max: number
  force: boolean
  client?: string
  model?: string
  branch?: string
}

export interface Renewal {
  hash: string
  ttlMs?: number
  progress?: string
  /** Only a claim that this one covers. */
  ofActor?: string
}

export type Release = ({ hash: string } | { session: string }) & {
  ofActor?: string
  outcome: 'done' | 'abandoned'
  summary?: string
}

/** A claim as its holder gets it. Times in ms. */
export interface Held {
  task: string
  generation: number
  session: string
  expiresAt: number
  end?: Pick<ClaimEnd, 'outcome' | 'at'>
}

export type ClaimRefusal =
  | { reason: 'unpublished' | 'not_found' | 'nothing_ready' | 'closed' | 'not_ready' }
  | { reason: 'unknown_claim' | 'too_many_claims' | 'forbidden' }
  | { reason: 'claimed'; by: string; since: number; expiresAt: number }
  | { reason: 'already_holding'; task: string }
  | { reason: 'claim_lost'; generation: number; by?: string }

/** `frames`: what every connected stream must be sent, after the turn is stored. */
export type Claimed<Answer> = { frames: string[] } & (
  | { ok: true; answer: Answer }
  | ({ ok: false } & ClaimRefusal)
)

/** `task`: as `GET /api/tasks/{id}` has it, as JSON. */
export interface NewClaim extends Held {
  json: string
  /** It was made by an earlier call with the same secret. */
  isRepeated: boolean
}

const MAX_VALID = 1_000
/** After a release as done, the file may come later than the release. */
const DONE_MS = 60_000
/** An expiry that is seen so much later: the host slept, or its clock jumped. */
const LATE_MS = 5_000
/** Holders then have this long to say that they are there. */
const GRACE_MS = 30_000

export class Claims {
  readonly #board: BoardStore
  readonly #claims: ClaimStore

  constructor(board: BoardStore, claims: ClaimStore) {
    this.#board = board
    this.#claims = claims
  }

  claim(request: ClaimRequest, now: number): Claimed<NewClaim> {
    return this.#turn(now, (frames) => {
      const refused = (refusal: ClaimRefusal) => ({ ok: false, ...refusal, frames }) as const
      const { published, reading } = this.#board.state()
      // What the next task is, is known when all were read.
      const isLater = reading !== undefined && request.task === undefined
      if (!published) return refused({ reason: isLater ? 'nothing_ready' : 'unpublished' })
      const known = this.#claims.bySecret(request.hash)
      if (known) {
        if (!isValid(known, now)) return refused(this.#lost(known))
        return { ok: true, answer: { ...this.#whole(known), isRepeated: true }, frames }
      }
      if (this.#claims.countValid(now) >= MAX_VALID) return refused({ reason: 'too_many_claims' })
      const own = this.#claims.validOf(request.actor, now)
      const [held] = own
      if (held && own.length >= request.max) {
        return refused({ reason: 'already_holding', task: held.task })
      }
      const found = this.#choose(request, now)
      if ('reason' in found) return refused(found)
      const before = this.#claims.openOf(found.id)
      if (before) this.#end(before, { at: now, outcome: 'replaced' }, frames, now)
      const { hash, actor, ttlMs, client, model, branch, tree } = request
      const claim: Claim = {
        generation: Math.max(this.#claims.lastGeneration() + 1, now),
        hash,
        actor,
        ttlMs,
        task: found.id,
        ...(client !== undefined && { client }),
        ...(model !== undefined && { model }),
        ...(branch !== undefined && { branch }),
        ...(tree !== undefined && { tree }),
        startedAt: now,
        renewedAt: now,
        expiresAt: now + ttlMs,
      }
      this.#tell(claim, frames, now)
      return { ok: true, answer: { ...this.#whole(claim), isRepeated: false }, frames }
    })
  }

  renew({ hash, ttlMs, progress, ofActor }: Renewal, now: number): Claimed<Held> {
    return this.#turn(now, (frames) => {
      const known = this.#claims.bySecret(hash)
      if (!known) return { ok: false, reason: 'unknown_claim', frames }
      if (!coversActor(ofActor, known.actor)) return { ok: false, reason: 'forbidden', frames }
      if (known.end) return this.#ended(known, frames)
      const { isStalled = false, ...claim } = known
      const isNew = isStalled || (progress !== undefined && progress !== known.progress)
      const lasts = ttlMs ?? claim.ttlMs
      const renewed: Claim = {
        ...claim,
        ttlMs: lasts,
        renewedAt: now,
        expiresAt: now + lasts,
        ...(progress !== undefined && { progress }),
      }
      if (isNew) this.#tell(renewed, frames, now)
      else this.#claims.put(renewed, sessionOf(renewed), undefined)
      return { ok: true, answer: heldOf(renewed), frames }
    })
  }

  release(release: Release, now: number): Claimed<Held> {
    return this.#turn(now, (frames) => {
      const byOther = 'session' in release
      const known = byOther ? this.#bySession(release.session) : this.#claims.bySecret(release.hash)
      if (!known) return { ok: false, reason: 'unknown_claim', frames }
      if (!coversActor(release.ofActor, known.actor)) {
        return { ok: false, reason: 'forbidden', frames }
      }
      if (known.end) {
        return byOther ? { ok: true, answer: heldOf(known), frames } : this.#ended(known, frames)
      }
      const { outcome, summary } = release
      const end: ClaimEnd = {
        at: now,
        outcome,
        ...(byOther && { byOther }),
        ...(summary !== undefined && { summary }),
      }
      return { ok: true, answer: heldOf(this.#end(known, end, frames, now)), frames }
    })
  }

  /** Ends the claims of tasks that were closed or deleted: called when a change is whole. */
  settle(now: number): string[] {
    const frames: string[] = []
    const open = this.#claims.open()
    if (open.length === 0) return frames
    const closed = new Set(this.#config()?.closed)
    for (const claim of open) {
      const task = this.#board.stored(claim.task)
      if (!task) this.#end(claim, { at: now, outcome: 'deleted' }, frames, now)
      else if (closed.has(task.status))
        this.#end(claim, { at: now, outcome: 'closed' }, frames, now)
    }
    return frames
  }

  /** Sends clients what has expired. */
  expire(now: number): string[] {
    return this.#turn(now, (frames) => ({ ok: true, answer: undefined, frames })).frames
  }

  /** One transaction, with what has expired before it. */
  #turn<Outcome extends { frames: string[] }>(
    now: number,
    run: (frames: string[]) => Outcome,
  ): Outcome {
    return this.#board.transaction(() => {
      const frames: string[] = []
      for (const claim of this.#claims.pending(now)) {
        if (now - claim.expiresAt <= LATE_MS) this.#tell({ ...claim, isStalled: true }, frames, now)
        else {
          const spared = { ...claim, expiresAt: now + GRACE_MS }
          this.#claims.put(spared, sessionOf(spared), undefined)
        }
      }
      const outcome = run(frames)
      this.#plan(now)
      return outcome
    })
  }

  /** A renewal leaves the time as it is: what is due then finds out, and plans the next. */
  #plan(now: number): void {
    const first = this.#claims.nextExpiry()
    const planned = this.#claims.planned('claims') ?? 0
    const isPlanned = first !== undefined && now < planned && planned <= first
    if (!isPlanned) this.#claims.plan('claims', first)
  }

  #choose(request: ClaimRequest, now: number): StoredTask | ClaimRefusal {
    const config = this.#config()
    const isToDo = toDoIn(config)
    const { task: id, label, parent, actor, assignee, tree } = request
    const isFree = (task: StoredTask, last: Claim | undefined): boolean => {
      const { assignees = task.assignee === undefined ? [] : [task.assignee] } = task
      const isOurs =
        assignees.length === 0 || assignees.some((it) => it === actor || it === assignee)
      return (
        isOurs &&
        isOffered(task, last, now) &&
        canBegin(task, isBegunBefore(task, last) ? yes : isToDo, tree)
      )
    }
    if (id !== undefined) {
      const task = this.#board.stored(id)
      if (!task) return { reason: 'not_found' }
      if (config?.closed.includes(task.status)) return { reason: 'closed' }
      const last = this.#claims.lastOf(id)
      if (last && isValid(last, now)) {
        const { actor: by, startedAt: since, expiresAt } = last
        return { reason: 'claimed', by, since, expiresAt }
      }
      return request.force || isFree(task, last) ? task : { reason: 'not_ready' }
    }
    const last = new Map(this.#claims.lastOfAll().map((claim) => [claim.task, claim]))
    const free = this.#board
      .readyTasks()
      .filter((task) => label === undefined || task.labels?.includes(label))
      .filter((task) => parent === undefined || task.parent === parent)
      .filter((task) => {
        const claim = last.get(task.id)
        return !(claim && isValid(claim, now)) && isFree(task, claim)
      })
    return nextOf(free) ?? { reason: 'nothing_ready' }
  }

  #config(): BoardConfig | undefined {
    const row = this.#board.config()
    return row && (JSON.parse(row.json) as BoardConfig)
  }

  #bySession(id: string): Claim | undefined {
    const [, generation] = /^claim-(\d{1,15})$/.exec(id) ?? []
    return generation === undefined ? undefined : this.#claims.byGeneration(Number(generation))
  }

  #end(claim: Claim, end: ClaimEnd, frames: string[], now: number): Claim {
    const { isStalled: _, ...open } = claim
    const { status, fileHash: file } = this.#board.stored(claim.task) ?? {}
    const at = { ...(status !== undefined && { status }), ...(file !== undefined && { file }) }
    const ended = { ...open, end: { ...end, ...at } }
    this.#tell(ended, frames, now)
    for (const id of this.#claims.forgetOldest()) this.#board.forgetSession(id)
    return ended
  }

  /** Numbers the rows anew, and adds a message: clients read them again. */
  #tell(claim: Claim, frames: string[], now: number): void {
    const state = this.#board.state()
    const session = sessionOf(claim)
    const seq = this.#board.head() + 1
    this.#claims.put(claim, session, seq)
    const execution = claim.isStalled ? 'stalled' : 'active'
    this.#board.layOver(
      claim.task,
      claim.end
        ? undefined
        : { activeAttempt: session.attempt, executionState: execution, sessionId: session.id },
      seq,
    )
    state.tasksRev++
    state.sessionsRev++
    const message = { type: 'session-changed', session: session.id } as const
    frames.push(
      messageFrame({ epoch: state.epoch, seq: this.#board.append(message, now) }, message),
    )
    this.#board.save(state)
  }

  #whole(claim: Claim): Held & { json: string } {
    return { ...heldOf(claim), json: this.#board.task(claim.task)?.json ?? '{}' }
  }

  #ended(claim: Claim, frames: string[]): Claimed<Held> {
    const { byOther, outcome } = claim.end ?? {}
    const isLost = byOther || outcome === 'replaced' || outcome === 'deleted'
    const isTaken = this.#claims.lastOf(claim.task)?.generation !== claim.generation
    if (isLost || (isTaken && outcome === 'abandoned')) {
      return { ok: false, ...this.#lost(claim), frames }
    }
    return { ok: true, answer: heldOf(claim), frames }
  }

  #lost({ task, generation }: Claim): ClaimRefusal {
    const holder = this.#claims.openOf(task)
    const isOther = holder && holder.generation !== generation
    return { reason: 'claim_lost', generation, ...(isOther && { by: holder.actor }) }
  }
}

/** A token of an actor is also for those that it names below itself: `ci/7` of `ci`. */
export const coversActor = (ofActor: string | undefined, actor: string): boolean =>
  ofActor === undefined || actor === ofActor || actor.startsWith(`${ofActor}/`)

const yes = () => true

const isValid = ({ end, expiresAt }: Claim, now: number): boolean => !end && expiresAt > now

/** What was left says begun, and nobody has begun it since. */
function isBegunBefore({ status }: StoredTask, last: Claim | undefined): boolean {
  if (!last) return false
  const { end } = last
  return end === undefined || (end.outcome === 'abandoned' && end.status === status)
}

/** What was done is not offered until its file says otherwise, or says nothing for a while. */
function isOffered({ fileHash }: StoredTask, last: Claim | undefined, now: number): boolean {
  const { outcome, at, file: then } = last?.end ?? {}
  return outcome !== 'done' || fileHash !== then || now - (at ?? 0) >= DONE_MS
}

function heldOf({ task, generation, expiresAt, end }: Claim): Held {
  return {
    task,
    generation,
    expiresAt,
    session: sessionId(generation),
    ...(end && { end: { outcome: end.outcome, at: end.at } }),
  }
}

const timeText = (ms: number): string => new Date(ms).toISOString()

/** The session of a task that a claim is. */
function sessionOf(claim: Claim): Session {
  const { generation, task, actor, client, model, branch, tree, progress, end } = claim
  const attempt = sessionId(generation)
  const isFinished = end?.outcome === 'done' || end?.outcome === 'closed'
  const state = end ? (isFinished ? 'finished' : 'canceled') : 'active'
  return {
    id: attempt,
    task,
    attempt,
    actor,
    ...(client !== undefined && { client }),
    ...(model !== undefined && { model }),
    status: end ? state : 'in_progress',
    startedAt: timeText(claim.startedAt),
    ...(end && { endedAt: timeText(end.at) }),
    ...(branch !== undefined && { branch }),
    ...(end?.summary !== undefined && { summary: end.summary }),
    ...(state === 'canceled' && end && { cancelReason: end.outcome }),
    health: claim.isStalled ? 'stalled' : state,
    live: {
      heartbeatAt: timeText(claim.renewedAt),
      ...(progress !== undefined && { progress }),
      ...(tree !== undefined && { worktree: tree }),
    },
    claim: { generation, expiresAt: timeText(claim.expiresAt) },
    ...(tree !== undefined && { tree }),
  }
}
