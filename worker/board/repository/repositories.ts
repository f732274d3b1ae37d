// The port through which the Worker reaches repositories, wherever they live: in Durable Objects
// (repositories-object.ts) or in this process (repositories-process.ts).

import type { NoticeCause } from '../../shared/notice-rules.ts'
import type { ClaimRefusal } from '../claims/claim-calls.ts'
import type { ClaimTurns } from '../claims/claims.ts'
import type { BoardRules, NoticesShown, ShownDelivery } from '../notices/notice-calls.ts'
import type { NoticeTurns } from '../notices/notices.ts'
import type { ChangeStream } from '../streams/subscription.ts'
import type { ChangesAnswer, ChangesRequest, SyncAnswer, SyncRequest } from '../wire.ts'
import type { Query, ReadAnswer } from './reads.ts'
import type { PublishRefusal } from './repository.ts'

export interface Repositories {
  /** The repository of this path; made when it is first written to. The caller checked access. */
  open(path: string): RepositoryHandle
}

export interface RepositoryHandle extends ChangeStream {
  /** The caller has validated the request. Streams get their messages before this resolves. */
  sync(request: SyncRequest, rules?: BoardRules): Promise<PublishOutcome<SyncAnswer>>
  changes(request: ChangesRequest): Promise<PublishOutcome<ChangesAnswer>>
  /** `ifNoneMatch` is the request's header, so an unchanged body never leaves the repository. */
  read(query: Query, ifNoneMatch: string | undefined): Promise<ReadAnswer>
  /** The caller has validated the request. Streams get the message before this resolves. */
  claims<Name extends keyof ClaimTurns>(
    name: Name,
    asked: ClaimTurns[Name]['asked'],
  ): Promise<ClaimOutcome<ClaimTurns[Name]['answer']>>
  /** Undefined: it is not published. */
  notices(): Promise<NoticesShown | undefined>
  /** What came of sending a test to each target of this rule. Undefined: there is none. */
  testNotice(on: NoticeCause): Promise<ShownDelivery[] | undefined>
  /** The caller has validated the request. Undefined: it is not published. */
  noticeTurn<Name extends keyof NoticeTurns>(
    name: Name,
    asked: NoticeTurns[Name]['asked'],
  ): Promise<NoticeTurns[Name]['answer'] | undefined>
  /**
   * Uses up an id that is valid once. False: it was used before. Remembered until `expiresAt` (ms).
   * It does not publish a repository.
   */
  spend(id: string, expiresAt: number): Promise<boolean>
  /**
   * Takes the socket by which a sidecar shows that it is there. Absent: the host has none, and
   * reports show it.
   */
  attach?(run: number): Promise<Response | AttachRefusal>
}

export type PublishOutcome<Answer> =
  /** `signals`: how many messages the streams were sent. */
  { ok: true; answer: Answer; signals: number } | ({ ok: false } & PublishRefusal)

/** The edge gave nobody this run, or the repository has as many sockets as it may. */
export type AttachRefusal = 'sync_required' | 'too_many_sidecars'

export type ClaimOutcome<Answer> = { ok: true; answer: Answer } | ({ ok: false } & ClaimRefusal)
