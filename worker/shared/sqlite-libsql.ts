// SQLite in this process, by the synchronous API of libSQL's library, for the payments under Node.
// Everything in here blocks the thread until it is done.

import Libsql from 'libsql'

export type SqliteValue = string | number | bigint | boolean | null

/** A transaction that only reads takes no lock that others wait for. */
export type Begin = 'BEGIN' | 'BEGIN IMMEDIATE'

export interface Sqlite {
  /** Runs one statement and returns its rows. Values in order, or one object of them by name. */
  all<Row>(sql: string, ...values: SqliteValue[] | [Readonly<Record<string, SqliteValue>>]): Row[]
  /** All of it or, when `run` throws, nothing. `run` must not await: the turn is the lock. */
  transaction<Result>(run: () => Result, begin?: Begin): Result
  /** Several statements, without their rows. */
  exec(script: string): void
  close(): void
}

// FULL: what was answered must survive a power loss. libSQL's server enforces foreign keys too. The
// log is copied into the file every 64 MiB: at SQLite's 4 MiB that would be every third save of a
// busy ledger.
const SETTINGS = `PRAGMA journal_mode = WAL;
  PRAGMA synchronous = FULL;
  PRAGMA foreign_keys = ON;
  PRAGMA wal_autocheckpoint = 16000`

/** The process that closes a file last copies its log, and has all of it locked meanwhile. */
const OPENS_WITHIN_MS = 5_000

/** A statement for each kind of group, and queries; beyond that the oldest is prepared again. */
const MAX_STATEMENTS = 200

/**
 * `file` may be `:memory:`. `exactIntegers`: integers come as bigint; a number would lose what is
 * past 2^53.
 */
export function openSqlite(file: string, { exactIntegers = false } = {}): Sqlite {
  const database = new Libsql(file, { timeout: OPENS_WITHIN_MS })
  // A later call that meets a writer fails at once: the thread would answer nobody while it waits.
  database.exec(`${SETTINGS}; PRAGMA busy_timeout = 0`)
  if (exactIntegers) database.defaultSafeIntegers(true)
  const statements = new Map<string, ReturnType<typeof database.prepare<unknown[]>>>()

  const prepare = (sql: string) => {
    const known = statements.get(sql)
    if (known) return known
    const [oldest] = statements.keys()
    if (oldest !== undefined && statements.size === MAX_STATEMENTS) statements.delete(oldest)
    const prepared = database.prepare<unknown[]>(sql)
    statements.set(sql, prepared)
    return prepared
  }

  return {
    all: <Row>(sql: string, ...values: unknown[]) => {
      const [first] = values
      const isNamed = typeof first === 'object' && first !== null
      return prepare(sql).all(isNamed ? named(first) : values.map(bound)) as Row[]
    },
    transaction(run, begin = 'BEGIN IMMEDIATE') {
      database.exec(begin)
      try {
        const result = run()
        database.exec('COMMIT')
        return result
      } catch (error) {
        // A full disk has ended it already.
        if (database.inTransaction) database.exec('ROLLBACK')
        throw error
      }
    },
    exec: (script) => void database.exec(script),
    close() {
      statements.clear()
      database.close()
    },
  }
}

const named = (values: object): Record<string, unknown> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, bound(value)]))

/** The library stores every number as a float, and ends the process over a boolean. */
function bound(value: unknown): unknown {
  if (typeof value === 'boolean') return value ? 1n : 0n
  return Number.isSafeInteger(value) ? BigInt(value as number) : value
}
