// The directory of boards in a Durable Object, one for the whole deployment, and the way of a
// Worker to it.

import { DurableObject } from 'cloudflare:workers'
import { freshStub, objectSql } from '../../shared/durable-object.ts'
import type { Repos } from '../../shared/repos.ts'
import type { BoardReport } from '../wire.ts'
import type { BoardRow, Directory, Forgotten, Put, Reporter } from './directory.ts'
import { sqliteDirectory } from './directory-sqlite.ts'

type Offline = Parameters<Directory['offline']>[1]

export class DirectoryObject extends DurableObject {
  readonly #boards = sqliteDirectory(objectSql(this.ctx.storage))

  put(path: string, report: BoardReport, by: Reporter): Promise<Put> {
    return this.#boards.put(path, report, by)
  }

  list(repos: Repos, now: number): Promise<BoardRow[]> {
    return this.#boards.list(repos, now)
  }

  offline(path: string, found: Offline): Promise<void> {
    return this.#boards.offline(path, found)
  }

  forget(path: string, now: number): Promise<Forgotten> {
    return this.#boards.forget(path, now)
  }
}

export function objectDirectory(namespace: DurableObjectNamespace<DirectoryObject>): Directory {
  const stub = freshStub(namespace, 'boards')
  return {
    put: (path, report, by) => stub().put(path, report, by),
    list: (repos, now) => stub().list(repos, now),
    offline: (path, found) => stub().offline(path, found),
    forget: (path, now) => stub().forget(path, now),
  }
}
