// Copies that must not be lost: of a database that was made anew, of another shop, of a larger one.

import { readdir, readFile, rename, rm, truncate, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { backUp } from '../../../../system/database/backup/backup.ts'
import { checkCopy, lookAt } from '../../../../system/database/backup/backup-copy.ts'
import {
  backUpInto,
  type KeptCopy,
  spare,
  usableIn,
} from '../../../../system/database/backup/backup-folder.ts'
import { prepareSchema } from '../../../../system/database/migrate.ts'
import { SCHEMA_VERSION } from '../../../../worker/payments/domain/rows.ts'
import { embeddedDatabase } from '../../../../worker/payments/ledger/libsql/embedded-libsql.ts'
import { openSqlite } from '../../../../worker/shared/sqlite-libsql.ts'
import { run } from '../../../cli/run.ts'
import { tempFolder } from '../../../support/temp-folder.ts'

const NOW = Date.parse('2026-11-28T18:00:00Z')
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

let dir: string
let file: string
let copies: string
beforeEach(async () => {
  dir = tempFolder()
  copies = tempFolder()
  file = join(dir, 'payments.db')
  await fill(file, 3)
})

async function fill(path: string, payments: number): Promise<void> {
  const database = embeddedDatabase(path)
  await prepareSchema(database)
  database.close()
  const sqlite = openSqlite(path)
  for (let n = 0; n < payments; n++) {
    sqlite.all(
      `INSERT INTO payment_transactions (id, gateway, reference, amount, currency, created_at,
        updated_at) VALUES (?, 'bank', ?, 100, 'IQD', 1, 1)`,
      `0${n}`,
      `order-${n}`,
    )
  }
  sqlite.close()
}

const removePayments = () => {
  const sqlite = openSqlite(file)
  sqlite.all("DELETE FROM payment_transactions WHERE id <> '00'")
  sqlite.close()
}
const kept = { code: 'other_database' }

describe('a copy', () => {
  const into = () => join(copies, 'latest.db')
  const again = { overwrites: true }

  it('of another shop is never replaced, whatever is said', async () => {
    await backUp({ file }, into(), again)
    await rm(file)
    await fill(file, 9)
    for (const plan of [again, { overwrites: true, shrinks: true }]) {
      await expect(backUp({ file }, into(), plan)).rejects.toMatchObject(kept)
    }
    expect(await lookAt(into())).toMatchObject({ payments: 3 })
    expect(await readdir(copies)).toEqual(['latest.db'])
  })

  it('with more payments is replaced only by who says that fewer are right', async () => {
    await backUp({ file }, into(), again)
    removePayments()
    const refused = backUp({ file }, into(), again)
    await expect(refused).rejects.toMatchObject(kept)
    await expect(refused).rejects.toThrow(/has 3 payments, and the database 1: .*--shrink/)
    const { payments } = await backUp({ file }, into(), { overwrites: true, shrinks: true })
    expect([payments, (await lookAt(into()))?.payments]).toEqual([1, 1])
  })

  it('takes with it what a killed one has left, and not what another is writing', async () => {
    const [dead, alive] = [`${into()}.999999999.tmp`, `${into()}.${process.ppid}.tmp`]
    for (const path of [dead, `${dead}-wal`, alive]) await writeFile(path, 'half')
    await backUp({ file }, into(), again)
    expect((await readdir(copies)).sort()).toEqual(
      ['latest.db', `latest.db.${process.ppid}.tmp`].sort(),
    )
  })

  it('is checked by its pages, its tables and its counts, and stays as it is', async () => {
    await backUp({ file }, into(), again)
    const before = await readFile(into())
    const found = await checkCopy(into())
    expect(found).toMatchObject({ payments: 3, schema: SCHEMA_VERSION })
    expect(await readFile(into())).toEqual(before)
    const checked = await run(['backup', '--check', into()], {})
    expect([checked.code, checked.out]).toEqual([
      0,
      `${into()} can be restored: 3 payments of the shop ${found.installation}, schema ${SCHEMA_VERSION}.\n`,
    ])
    const lacking = join(copies, 'lacking.db')
    await backUp({ file }, lacking, again)
    const sqlite = openSqlite(lacking)
    sqlite.exec('DROP TABLE payment_audit')
    sqlite.close()
    await expect(checkCopy(lacking)).rejects.toThrow('it lacks payment_audit.')
    await truncate(into(), 8_192)
    await expect(checkCopy(into())).rejects.toThrow(/cannot be restored/)
  })
})

describe('a folder of copies', () => {
  const add = async (now: number) => {
    const made = await backUpInto({ file }, copies, { now })
    await utimes(made.path, now / 1_000, now / 1_000)
    return made
  }

  it('gets a new name for each, also in the same second', async () => {
    await add(NOW)
    await add(NOW)
    const names = ['payments-20261128T180000-2.db', 'payments-20261128T180000.db']
    expect((await readdir(copies)).sort()).toEqual(names)
  })

  it('keeps the larger one when fewer are right, and says so', async () => {
    const { path } = await add(NOW - HOUR_MS)
    removePayments()
    const made = await add(NOW)
    expect(made).toMatchObject({ payments: 1, larger: { path, payments: 3 } })
    expect((await lookAt(path))?.payments).toBe(3)
  })

  it('takes no copy of another shop beside its own', async () => {
    await add(NOW - HOUR_MS)
    await rename(file, join(dir, 'lost.db'))
    await fill(file, 0)
    await expect(add(NOW)).rejects.toMatchObject(kept)
    expect(await readdir(copies)).toHaveLength(1)
  })

  it('is restored from its newest copy that has payments', async () => {
    const { path } = await add(NOW - HOUR_MS)
    const sqlite = openSqlite(file)
    sqlite.all('DELETE FROM payment_transactions')
    sqlite.close()
    await add(NOW)
    expect((await usableIn(copies))?.path).toBe(path)
    const data = join(tempFolder(), 'data')
    const { code, out } = await run(['restore', copies, '--data', data], { HOME: tempFolder() })
    expect([code, out]).toEqual([0, expect.stringContaining(`Restored 3 payments of ${path} to `)])
  })
})

describe('what may go of a folder', () => {
  const copy = (madeAt: number, own: Partial<KeptCopy> = {}): KeptCopy => {
    return { path: String(madeAt), madeAt, payments: 5, installation: 'own', ...own }
  }
  const daily = Array.from({ length: 20 }, (_, n) => [
    copy(NOW - n * DAY_MS - 3 * HOUR_MS),
    copy(NOW - n * DAY_MS - 4 * HOUR_MS),
  ]).flat()
  const pathsOf = (list: readonly KeptCopy[]) => new Set(list.map(({ path }) => path))

  it('is all but the newest of each of fourteen days', () => {
    const goes = pathsOf(spare(daily, 14, NOW))
    const stays = daily.filter(({ path }) => !goes.has(path))
    // The first one has as many payments as any.
    expect(stays.map(({ madeAt }) => madeAt)).toEqual(
      Array.from({ length: 14 }, (_, n) => NOW - n * DAY_MS - 3 * HOUR_MS),
    )
  })

  it('is none of the last two hours', () => {
    const recent = Array.from({ length: 24 }, (_, n) => copy(NOW - n * 5 * 60_000))
    expect(spare(recent, 1, NOW)).toEqual([])
  })

  it('is never the one with the most payments, and none of another shop', () => {
    const largest = copy(NOW - 40 * DAY_MS, { payments: 9 })
    const other = copy(NOW - 50 * DAY_MS, { installation: 'other' })
    const goes = spare([...daily, largest, other], 3, NOW)
    expect(goes).not.toContain(largest)
    expect(goes).not.toContain(other)
    expect(goes).toHaveLength(daily.length - 3)
  })
})
