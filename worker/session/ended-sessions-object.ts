// The list of ended sessions in a Durable Object, one for the whole deployment, and the way of a
// Worker to it.

import { DurableObject } from 'cloudflare:workers'
import { freshStub, objectSql } from '../shared/durable-object.ts'
import type { EndedSessions } from '../shared/ended-sessions.ts'
import { sqliteEndedSessions } from './ended-sessions-sqlite.ts'

export class SessionsObject extends DurableObject {
  readonly #list = sqliteEndedSessions(objectSql(this.ctx.storage))

  end(sid: string, expiresAt: number, now: number): Promise<void> {
    return this.#list.end(sid, expiresAt, now)
  }

  has(sid: string): Promise<boolean> {
    return this.#list.has(sid)
  }
}

export function objectEndedSessions(
  namespace: DurableObjectNamespace<SessionsObject>,
): EndedSessions {
  const stub = freshStub(namespace, 'ended')
  return {
    end: (sid, expiresAt, now) => stub().end(sid, expiresAt, now),
    has: (sid) => stub().has(sid),
  }
}
