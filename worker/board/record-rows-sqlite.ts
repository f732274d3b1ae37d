// How one record becomes one row: which table, which columns a list filters by, what JSON it shows.

import type { Sql } from './sql.ts'
import type { DataRecord, Kind, Task } from './wire.ts'

export const TABLE_OF: Record<Kind, string> = {
  task: 'tasks',
  session: 'sessions',
  run: 'runs',
  board: 'boards',
}

/** What the list of tasks shows of it. */
export function lightText(task: Task): string {
  const { body, provenance, checks, extra, ...light } = task
  return JSON.stringify(light)
}

/** Writes the record's row, over an older one. */
export function putRecord(sql: Sql, record: DataRecord, bucket: number, seq: number): void {
  const { id, hash } = record
  switch (record.kind) {
    case 'task': {
      const { status, assignee, ready, executionState, invalid } = record.task
      const { body, provenance, checks, extra } = record.task
      const rest = JSON.stringify({ checks, provenance, extra, body })
      insert(sql, 'tasks', {
        id,
        bucket,
        hash,
        file: record.file,
        status,
        assignee: assignee ?? null,
        ready: Number(ready),
        execution: executionState ?? null,
        invalid: Number(invalid !== undefined),
        seq,
        light: lightText(record.task),
        rest,
      })
      return
    }
    case 'session': {
      const { task, actor, status, health, startedAt } = record.session
      const started_at = Date.parse(startedAt) || 0
      const json = JSON.stringify(record.session)
      const columns = { id, bucket, hash, task, actor, status, health, started_at, seq, json }
      insert(sql, 'sessions', columns)
      return
    }
    case 'run': {
      const at = Date.parse(record.run.at ?? '') || 0
      const json = JSON.stringify(record.run)
      insert(sql, 'runs', { id, bucket, hash, task: record.task, at, json })
      return
    }
    case 'board':
      insert(sql, 'boards', { id, bucket, hash, json: JSON.stringify(record.board) })
  }
}

function insert(sql: Sql, table: string, row: Record<string, string | number | null>): void {
  const columns = Object.keys(row)
  const marks = columns.map(() => '?').join(', ')
  sql.all(
    `INSERT OR REPLACE INTO ${table} (${columns.join(', ')}) VALUES (${marks})`,
    ...Object.values(row),
  )
}
