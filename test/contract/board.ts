// The public contract of the board, for any host: workerd, Deno and Node.

import type { DataRecord } from '../../worker/board/wire.ts'
import { type Edge, publishedRepo, type Repo } from '../support/edge.ts'
import { activityContract } from './activity.ts'
import { messageContract } from './board-messages.ts'
import { readContract } from './board-reads.ts'
import { settingsContract } from './board-settings.ts'
import { streamContract } from './board-stream.ts'
import { syncContract } from './board-sync.ts'
import { claimContract } from './claims.ts'
import { boardsContract } from './directory.ts'
import { noticeContract } from './notices.ts'

interface Host {
  edge(): Edge
  /** Whether clients see `Connection: keep-alive`, a hop-by-hop header that workerd drops. */
  sendsConnection: boolean
}

export interface Board extends Host {
  /** The name of the host, for the names of the tests. */
  name: string
  /** A new repository with these records. */
  published(...records: DataRecord[]): Promise<Repo>
}

export function boardContract(name: string, host: Host): void {
  const board: Board = {
    ...host,
    name,
    published: (...records) => publishedRepo(host.edge(), records),
  }
  streamContract(board)
  messageContract(board)
  readContract(board)
  syncContract(board)
  boardsContract(board)
  claimContract(board)
  activityContract(board)
  settingsContract(board)
  noticeContract(board)
}
