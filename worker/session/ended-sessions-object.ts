// The list of ended sessions in a Durable Object, one for the whole deployment, and the way of a
// Worker to it.

import { DurableObject } from 'cloudflare:workers'
import type { EndedSessions } from '../shared/ended-sessions.ts'
import { objectSql } from '../shared/sql-object.ts'
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
  // A stub breaks for good when its object is reset, so each call gets a fresh one.
  const stub = () => namespace.getByName('ended')
  return {
    end: (sid, expiresAt, now) => stub().end(sid, expiresAt, now),
    has: (sid) => stub().has(sid),
  }
}
