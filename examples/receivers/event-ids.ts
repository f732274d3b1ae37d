// The ids of events in SQL, for a shop of several processes: `ids: eventIdsIn('shop.db')`. Claims are
// one statement, so that one of two wins; it reads the same for PostgreSQL and D1.
import { DatabaseSync } from 'node:sqlite'
import type { EventIds } from 'signalbox/events'

export function eventIdsIn(file: string, now: () => number = Date.now): EventIds {
  const sql = new DatabaseSync(file)
  sql.exec('CREATE TABLE IF NOT EXISTS event_ids (id TEXT PRIMARY KEY, until_ms, handled)')
  const claim = sql.prepare(`INSERT INTO event_ids VALUES (:id, :until, 0) ON CONFLICT (id)
    DO UPDATE SET until_ms = :until WHERE handled = 0 AND until_ms <= :now`)
  const read = sql.prepare('SELECT handled FROM event_ids WHERE id = ?')
  const complete = sql.prepare(`INSERT INTO event_ids VALUES (?, ?, 1) ON CONFLICT (id)
    DO UPDATE SET handled = 1`)
  const release = sql.prepare('DELETE FROM event_ids WHERE id = ? AND handled = 0')
  return {
    claim(id, until) {
      if (claim.run({ id, until, now: now() }).changes > 0) return 'new'
      return read.get(id)?.handled === 1 ? 'handled' : 'busy'
    },
    complete: (id) => complete.run(id, now()),
    release: (id) => release.run(id),
  }
}
