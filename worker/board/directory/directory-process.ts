// The directory of boards of a process. Its file is a copy of what sidecars report: where it is
// damaged, a new one is filled by them, and payments and boards go on.

import { isDamaged } from '../../shared/file-errors.ts'
import type { Sql } from '../../shared/sql.ts'
import type { Directory } from './directory.ts'
import { sqliteDirectory } from './directory-sqlite.ts'

type OpenSql = Sql & { close(): void }

/** `onDamaged`: makes room for a new file. */
export function processDirectory(open: () => OpenSql, onDamaged: () => void) {
  let sql: OpenSql | undefined
  let made: Directory | undefined
  const directory = (): Directory => {
    sql ??= open()
    made ??= sqliteDirectory(sql)
    return made
  }
  const close = () => {
    sql?.close()
    sql = undefined
    made = undefined
  }
  async function mended<Answer>(ask: (directory: Directory) => Promise<Answer>): Promise<Answer> {
    try {
      return await ask(directory())
    } catch (error) {
      if (!isDamaged(error)) throw error
      close()
      onDamaged()
      return await ask(directory())
    }
  }
  return {
    put: (...args) => mended((it) => it.put(...args)),
    offline: (...args) => mended((it) => it.offline(...args)),
    forget: (...args) => mended((it) => it.forget(...args)),
    list: (...args) => mended((it) => it.list(...args)),
    close,
  } satisfies Directory & { close(): void }
}
