// Which database of payments a data folder is to have. Its id is a variable where somebody sets it,
// else it is kept in the user's state folder, beside the secret, from the first payment on that is
// made at a real gateway. So a folder that was not mounted is not taken for a new shop.

import { lstat, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Database } from '../../worker/payments/ledger/libsql/database-libsql.ts'
import {
  type FoundInstallation,
  INSTALLATION,
  Installation,
  otherThan,
  readInstallation,
} from '../../worker/payments/ledger/libsql/ledger-row-libsql.ts'
import { statement } from '../../worker/payments/ledger/libsql/statement-libsql.ts'
import { textIn } from '../../worker/shared/plain-file-node.ts'
import { makePrivateFolder, replacePrivateFile } from '../../worker/shared/private-file-node.ts'
import { isOwnersAlone } from '../../worker/shared/user-folders-node.ts'
import { type SecretLocation, stateOf } from '../data/secret.ts'
import { StartError } from '../start-error.ts'

export const VARIABLE = 'PAYMENT_INSTALLATION'
const NAME = 'installation'

/** The id that is kept for a data folder. */
export interface KeptInstallation {
  dataDir: string
  /** Undefined: none is. */
  read(): Promise<string | undefined>
  /** False: there is no state folder that can be written. */
  write(id: string): Promise<boolean>
  forget(): Promise<void>
}

export function keptInstallation(location: SecretLocation): KeptInstallation {
  const { dataDir } = location
  const file = async () => {
    const folder = await stateOf(location)
    return folder && join(folder, NAME)
  }
  return {
    dataDir,
    async read() {
      const path = await file()
      const text = path && (await textIn(path))
      const id = text?.trim()
      if (id === undefined || INSTALLATION.test(id)) return id
      const why = `${path} is not the id of a database: signalbox migrate --new forgets it.`
      throw new StartError('bad_configuration', why)
    },
    async write(id) {
      try {
        const folder = await stateOf(location)
        if (folder === undefined) return false
        makePrivateFolder(folder)
        if (!isOwnersAlone(await lstat(folder))) return false
        await replacePrivateFile(join(folder, NAME), `${id}\n`)
        return true
      } catch {
        return false
      }
    },
    async forget() {
      const path = await file()
      if (path !== undefined) await rm(path, { force: true })
    },
  }
}

/** Throws StartError where what was found is not what is expected. `kept`: of its data folder. */
export function refuseOther(
  found: FoundInstallation,
  expected: string | undefined,
  { isSet, dataDir }: { isSet: boolean; dataDir?: string | undefined },
): void {
  const why = expected === undefined ? undefined : otherThan(found, expected)
  if (why === undefined) return
  const folder = dataDir === undefined ? '' : ` --data ${dataDir}`
  const change = isSet ? `, then change ${VARIABLE}` : ''
  throw new StartError(
    'other_database',
    `The database of payments is another one: ${why}. Is its folder mounted? A backup comes back ` +
      `with signalbox restore FILE${folder}. If it is to be a new shop: signalbox migrate ` +
      `--new${folder}${change}.`,
  )
}

export interface GuardPlan {
  variables: Readonly<Record<string, string | undefined>>
  kept: KeptInstallation
  /** Where what is paid is money. */
  realGateways: ReadonlySet<string>
  /** Shows a sentence to the person at the terminal. */
  notice(sentence: string): void
}

/** What a start does about the database. */
export async function guardDatabase({ variables, kept, realGateways, notice }: GuardPlan) {
  const set = variables[VARIABLE]
  const installation = new Installation(set ?? (await kept.read()))
  let id: string | undefined
  async function keep(): Promise<void> {
    if (installation.expected !== undefined || id === undefined) return
    installation.expect(id)
    if (await kept.write(id)) return
    const why = 'no state folder of this user can be written'
    notice(`The database of payments is not guarded against an empty one: ${why}. Set ${VARIABLE}.`)
  }
  return {
    installation,
    /** Before anything is made in it. Throws StartError. */
    async refuse({ read }: Pick<Database, 'read'>): Promise<void> {
      const how = { isSet: set !== undefined, dataDir: kept.dataDir }
      refuseOther(await readInstallation(read), installation.expected, how)
    },
    /** It has its tables. `isNew`: it had none before. */
    async adopt({ read }: Pick<Database, 'read'>, isNew: boolean): Promise<void> {
      const found = await readInstallation(read)
      if (found.is !== 'made') return
      id = found.id
      if (isNew) notice(`Made a new database of payments: ${VARIABLE}=${id}`)
      else if (await hasPayments(read, realGateways)) await keep()
    },
    /** A charge at this gateway was stored. */
    onBegun(gateway: string): void {
      if (realGateways.has(gateway)) void keep()
    },
  }
}

const PAID = `SELECT 1 FROM payment_transactions
  WHERE gateway IN (SELECT value FROM json_each(:gateways)) LIMIT 1`

/** Whether there is a payment at one of these gateways. */
export async function hasPayments(
  read: Database['read'],
  gateways: ReadonlySet<string>,
): Promise<boolean> {
  if (gateways.size === 0) return false
  const [[found] = []] = await read([statement(PAID, { gateways: JSON.stringify([...gateways]) })])
  return found !== undefined
}
