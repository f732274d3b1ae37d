// What the errors of files have in common: those of the system, of node:sqlite and of libSQL.

interface FileError {
  /** The system's, such as ENOSPC, or libSQL's, such as SQLITE_FULL. */
  code?: unknown
  /** SQLite's number, whose last byte is the kind. */
  errcode?: unknown
  message?: unknown
  cause?: unknown
}

interface Kind {
  code: RegExp
  numbers: readonly number[]
  /** Deno gives no number with some of them. */
  messages: readonly string[]
}

const DAMAGED: Kind = {
  code: /^SQLITE_(CORRUPT|NOTADB)/,
  numbers: [11, 26],
  messages: ['database disk image is malformed', 'file is not a database'],
}
/** SQLite calls it an I/O error where the disk has no room for what its processes share. */
const NO_ROOM: Kind = {
  code: /^(ENOSPC|EDQUOT|EIO|SQLITE_FULL|SQLITE_IOERR.*)$/,
  numbers: [10, 13],
  messages: ['disk I/O error', 'database or disk is full'],
}

/** Such as ENOENT. Empty: the error has none. */
export const errorCode = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : ''

/** Only these two say that nothing is there. EACCES, EIO or ESTALE do not. */
export const isAbsence = (error: unknown): boolean =>
  ['ENOENT', 'ENOTDIR'].includes(errorCode(error))

/** A database is not what was written: no further try helps. */
export const isDamaged = (error: unknown): boolean => is(error, DAMAGED)

/** The disk is full, or fails: it may be right again. */
export const isDiskFailure = (error: unknown): boolean => is(error, NO_ROOM)

/** Or its cause is. */
function is(error: unknown, kind: Kind): boolean {
  if (typeof error !== 'object' || error === null) return false
  const { code, errcode, message, cause }: FileError = error
  return (
    kind.code.test(String(code)) ||
    (typeof errcode === 'number' && kind.numbers.includes(errcode & 0xff)) ||
    kind.messages.some((sentence) => sentence === message) ||
    is(cause, kind)
  )
}
