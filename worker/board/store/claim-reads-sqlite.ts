// What a claim reads of a board to find the task that it gets: of a large one most waits, and it
// need not read that.

import type { Sql, SqlValue } from '../../shared/sql.ts'
import type { LightTask } from '../wire.ts'

/** May have more: only `statusesOf` knows a closed status in another case. */
const OPEN = 'status NOT IN (SELECT value FROM json_each(?))'
/** One look at all tasks. */
const PARTS = 'SELECT DISTINCT parent, part_of FROM tasks'

export type ClaimReads = ReturnType<typeof claimReads>

export function claimReads(sql: Sql) {
  // Without hashes, which took a fifth of the time.
  const lightTasks = (where: string, ...values: SqlValue[]): LightTask[] =>
    sql
      .all<{ light: string }>(
        `SELECT ifnull(published, light) AS light FROM tasks WHERE ${where}`,
        ...values,
      )
      .map(({ light }) => JSON.parse(light) as LightTask)
  const ids = (query: string, ...values: SqlValue[]): Set<string> =>
    new Set(sql.all<{ id: string }>(query, ...values).map(({ id }) => id))
  return {
    /** Those with this title, as it stands in their rows. `parent`: only its own. */
    titled: (title: string, parent: string | undefined): LightTask[] =>
      lightTasks(
        'parent IS ifnull(?, parent) AND instr(light, ?) > 0',
        parent ?? null,
        `"title":${JSON.stringify(title)}`,
      ).filter((task) => task.title === title),
    /** Those with another status that could begin, or that trees changed. */
    openTasks: (closed: readonly string[]): LightTask[] =>
      lightTasks(`(ready = 1 OR in_trees = 1) AND ${OPEN}`, JSON.stringify(closed)),
    /** Those with another status that wait, and are part of others. */
    waitingParts: (closed: readonly string[]): LightTask[] =>
      lightTasks(
        `ready = 0 AND (parent IS NOT NULL OR part_of IS NOT NULL) AND ${OPEN}`,
        JSON.stringify(closed),
      ),
    /** What these are part of, at any depth. May be more. */
    wholesOfWaiting: (closed: readonly string[]): Set<string> =>
      ids(
        `WITH RECURSIVE part AS MATERIALIZED (${PARTS} WHERE ready = 0 AND ${OPEN}), whole (id) AS (
          SELECT parent FROM part UNION SELECT part_of FROM part
          UNION SELECT parent FROM tasks JOIN whole USING (id)
          UNION SELECT part_of FROM tasks JOIN whole USING (id))
          SELECT id FROM whole`,
        JSON.stringify(closed),
      ),
    /** Those that wait for one of these. May be more. */
    waitingFor: (ids: readonly string[]): LightTask[] =>
      lightTasks(
        'ready = 0 AND EXISTS (SELECT 1 FROM json_each(?) WHERE instr(light, value) > 0)',
        JSON.stringify(ids.map((id) => JSON.stringify(id))),
      ),
    /** Those with another status that wait for any. */
    withDeps: (closed: readonly string[]): LightTask[] =>
      lightTasks(`ready = 0 AND instr(light, '"deps":') > 0 AND ${OPEN}`, JSON.stringify(closed)),
    /** What tasks are part of, closed ones, too. */
    wholes: (): Set<string> =>
      ids(
        `WITH part AS MATERIALIZED (${PARTS})
          SELECT parent AS id FROM part UNION SELECT part_of FROM part`,
      ),
  }
}
