// What the errors of files have in common: those of the system, of node:sqlite and of libSQL.

interface FileError {
  /** The system's, such as ENOSPC, or libSQL's, such as SQLITE_FULL. */
  code?: unknown
  /** SQLite's number, whose last byte is the kind. */
  errcode?: unknown
  message?: unknown
}

const CORRUPT = 11
const NOT_A_DATABASE = 26
/** Deno gives no number with some of them. */
const DAMAGED = ['database disk image is malformed', 'file is not a database']

/** Whether a database is not what was written: no further try helps. */
export function isDamaged(error: unknown): boolean {
  const { code, errcode, message } = (error ?? {}) as FileError
  const kind = typeof errcode === 'number' ? errcode & 0xff : undefined
  return (
    kind === CORRUPT ||
    kind === NOT_A_DATABASE ||
    /^SQLITE_(CORRUPT|NOTADB)/.test(String(code)) ||
    DAMAGED.some((sentence) => sentence === message)
  )
}
