// Which database of payments ran last with a data folder: a file of it, or a host. A backup asks,
// so that it copies no file that was left over. No token is kept.

import { join } from 'node:path'
import { fileOf, isEmbedded } from '../../worker/payments/ledger/libsql/embedded-libsql.ts'
import { textIn } from '../../worker/shared/plain-file-node.ts'
import { replacePrivateFile } from '../../worker/shared/private-file-node.ts'

const NAME = 'database'

/** The path of a file, or the host of a server; the rest of an address may be secret. */
const nameOfDatabase = (url: string): string => (isEmbedded(url) ? fileOf(url) : new URL(url).host)

export const noteDatabase = (dataDir: string, url: string): Promise<void> =>
  replacePrivateFile(join(dataDir, NAME), `${nameOfDatabase(url)}\n`)

/** Undefined: nothing has run there. */
export const lastDatabase = (dataDir: string): Promise<string | undefined> =>
  textIn(join(dataDir, NAME)).then((text) => text?.trim())
