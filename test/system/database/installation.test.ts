// Which database a data folder is to have: said by a variable, or kept from the first payment on.

import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { stateOf } from '../../../system/data/secret.ts'
import { guardDatabase, keptInstallation } from '../../../system/database/installation.ts'
import { sqliteDatabase } from '../../support/sqlite-database.ts'
import { makeFolder, tempFolder } from '../../support/temp-folder.ts'

const OTHER = '0123456789abcdef0123456789abcdef'
const REAL = new Set(['bank'])

let dataDir: string
let home: string
let notices: string[]
beforeEach(() => {
  dataDir = tempFolder()
  home = tempFolder()
  notices = []
})

const location = (env: Record<string, string> = { HOME: home }) => {
  return { dataDir, trustsData: false, env }
}
const guard = (variables: Record<string, string> = {}, env?: Record<string, string>) =>
  guardDatabase({
    variables,
    kept: keptInstallation(location(env)),
    realGateways: REAL,
    notice: (sentence) => notices.push(sentence),
  })
const kept = () => keptInstallation(location()).read()
const idOf = (database: ReturnType<typeof sqliteDatabase>) =>
  String(database.all('SELECT installation FROM payment_ledger')[0]?.installation)

const paid = (gateway: string) => {
  const database = sqliteDatabase()
  database.exec(`INSERT INTO payment_transactions (id, gateway, reference, amount, currency,
    created_at, updated_at) VALUES ('01A', '${gateway}', 'order-1', 100, 'IQD', 1, 1)`)
  return database
}

describe('a start', () => {
  it('names a database that it made, ready to paste, and keeps nothing yet', async () => {
    const database = sqliteDatabase()
    await (await guard()).adopt(database, true)
    expect(notices).toEqual([
      `Made a new database of payments: PAYMENT_INSTALLATION=${idOf(database)}`,
    ])
    expect(await kept()).toBeUndefined()
  })

  it('keeps the id with the first payment at a real gateway, in the state folder alone', async () => {
    const database = sqliteDatabase()
    const own = await guard()
    await own.adopt(database, true)
    own.onBegun('simulated')
    expect(await kept()).toBeUndefined()
    own.onBegun('bank')
    await expect.poll(kept).toBe(idOf(database))
    const folder = (await stateOf(location())) ?? ''
    expect(await readFile(join(folder, 'installation'), 'utf8')).toBe(`${idOf(database)}\n`)
    expect(await readdir(dataDir)).toEqual([])
  })

  it('adopts the database of an existing shop, and not that of simulations', async () => {
    await (await guard()).adopt(paid('simulated'), false)
    expect(await kept()).toBeUndefined()
    const shop = paid('bank')
    await (await guard()).adopt(shop, false)
    expect(await kept()).toBe(idOf(shop))
  })

  it.each([
    ['an empty one', () => sqliteDatabase(''), /it is empty, and this is the shop/],
    ['one without payments’ tables', () => sqliteDatabase('CREATE TABLE own (id)'), /it is empty/],
    ['that of another shop', () => sqliteDatabase(), /it is that of the shop [0-9a-f]{32}, and/],
  ])('refuses %s in place of the one that is kept', async (_, other, why) => {
    await keptInstallation(location()).write(OTHER)
    const own = await guard()
    await expect(own.refuse(other())).rejects.toMatchObject({
      code: 'other_database',
      message: expect.stringMatching(why),
    })
  })

  it('names restore first, then the way to a new shop, and the variable that says what is expected', async () => {
    await keptInstallation(location()).write(OTHER)
    const message = (own: Awaited<ReturnType<typeof guard>>) =>
      own.refuse(sqliteDatabase('')).catch((error: Error) => error.message)
    const ways = `signalbox restore FILE --data ${dataDir}. If it is to be a new shop: signalbox migrate --new --data ${dataDir}`
    expect(await message(await guard())).toContain(`${ways}.`)
    const set = await guard({ PAYMENT_INSTALLATION: OTHER })
    expect(await message(set)).toContain(`${ways}, then change PAYMENT_INSTALLATION.`)
  })

  it('goes by the variable where it is set, and keeps nothing then', async () => {
    const shop = paid('bank')
    await keptInstallation(location()).write(OTHER)
    const own = await guard({ PAYMENT_INSTALLATION: idOf(shop) })
    await own.refuse(shop)
    await own.adopt(shop, false)
    own.onBegun('bank')
    expect(await kept()).toBe(OTHER)
    expect(notices).toEqual([])
  })

  it('says once that nothing guards where there is no state folder', async () => {
    const own = await guard({}, {})
    await own.adopt(paid('bank'), false)
    own.onBegun('bank')
    expect(notices).toEqual([
      'The database of payments is not guarded against an empty one: no state folder of this user ' +
        'can be written. Set PAYMENT_INSTALLATION.',
    ])
  })

  it('refuses a kept file with something else in it, which says nothing', async () => {
    await keptInstallation(location()).write(OTHER)
    const folder = (await stateOf(location())) ?? ''
    await writeFile(join(folder, 'installation'), 'half')
    await expect(guard()).rejects.toMatchObject({ code: 'bad_configuration' })
  })

  it('finds the id of a folder by whatever name it is given', async () => {
    await keptInstallation(location()).write(OTHER)
    const parent = makeFolder()
    expect(parent).not.toBe(dataDir)
    const named = { ...location(), dataDir: `${parent}/../${dataDir.split('/').at(-1)}` }
    expect(await keptInstallation(named).read()).toBe(OTHER)
  })
})
