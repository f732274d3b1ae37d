// How settlement files are read, kept for each gateway: once it worked, until it is forgotten.

import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { openKeptReading } from '../../../cli/payments/kept-reading.ts'
import { oneProcess, Starts } from '../../support/local-system.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { quick, run } from '../run.ts'

let file: string
beforeEach(() => {
  file = join(tempFolder(), 'reconcile.json')
})
/** As the next run finds it. */
const bank = () => openKeptReading(file, 'bank')

describe('how a file is read', () => {
  const given = { map: 'id=Bank No, amount=Net', decimal: ',', delimiter: 'tab' } as const
  const all = { map: { id: 'Bank No', amount: 'Net' }, decimal: ',', delimiter: '\t' }

  it('is kept for its gateway once it worked, and not before', async () => {
    const first = await bank()
    const reading = await first.reading(given)
    expect(reading).toEqual(all)
    expect(await (await bank()).reading({})).toEqual({})
    await first.keep(reading)
    expect(await (await bank()).reading({})).toEqual(all)
    expect(await (await bank()).reading({ decimal: '.' })).toEqual({ ...all, decimal: '.' })
    expect(await (await openKeptReading(file, 'other')).reading({})).toEqual({})
  })

  it('is kept nowhere without a data folder', async () => {
    const nowhere = await openKeptReading(undefined, 'bank')
    await nowhere.keep(await nowhere.reading(given))
    expect(await nowhere.reading({})).toEqual({})
    expect(nowhere.names()).toBeUndefined()
  })

  it('adds words to those that it was taught before, and a map replaces another', async () => {
    const first = await bank()
    await first.keep(await first.reading({ words: 'Sale=payment', map: 'id=A' }))
    const next = await bank()
    const reading = await next.reading({ words: 'Vrac=none,Sale=refund', map: 'amount=B' })
    expect(reading).toEqual({ words: { Sale: 'refund', Vrac: 'none' }, map: { amount: 'B' } })
  })

  it('says which names are kept, and forgets them', async () => {
    const first = await bank()
    await first.keep(await first.reading({ ...given, words: 'Vrac=none' }))
    expect((await bank()).names()).toBe(
      "Kept for bank: --map 'id=Bank No,amount=Net' (--map none forgets it) and " +
        "--words 'Vrac=none' (--words none forgets it).",
    )
    expect(await (await bank()).reading({ map: 'none' })).toEqual({
      decimal: ',',
      delimiter: '\t',
      words: { Vrac: 'none' },
    })
    const last = await bank()
    expect(await last.reading({ words: 'none' })).toEqual({ decimal: ',', delimiter: '\t' })
    expect([last.names(), (await bank()).names()]).toEqual([undefined, undefined])
  })

  it.each(['{"bank": ', '[]', '"bank"', '{"bank": 7}'])(
    'is a sentence that names the file where that is damaged: %s',
    async (text) => {
      await writeFile(file, text)
      await expect(bank()).rejects.toMatchObject({
        code: 'usage',
        message: expect.stringContaining(`${file}, which has how files are read, is damaged`),
      })
    },
  )
})

describe('payments reconcile in a data folder', () => {
  const starts = new Starts()
  afterAll(() => starts.clear())

  it('keeps a map only after it worked, and names it where the next file cannot be read', async () => {
    const start = await (await starts.start({ launch: oneProcess })).ready()
    const { gatewayTransactionId: id } = await start.charge('order-1')
    const day = new Date().toISOString().slice(0, 10)
    const csv = join(tempFolder(), 'file.csv')
    const reconcile = async (text: string, ...more: string[]) => {
      await writeFile(csv, text)
      const words = ['payments', 'reconcile', csv, '--gateway', 'redirect', '--data', start.dataDir]
      return quick(await run([...words, ...more], {}, { cwd: start.dataDir }))
    }
    const good = `Bank No,Net,currency,date\n${id},25000,IQD,${day}\n`
    const map = ['--map', 'id=Bank No,amount=Net']
    const kept = join(start.dataDir, 'reconcile.json')
    // No row is read by this.
    expect(await reconcile(good, '--map', 'id=Bank No,amount=currency')).toMatchObject({ code: 1 })
    expect(await reconcile(good, '--map', 'id=Bank,amount=Net')).toMatchObject({ code: 2 })
    expect(() => readFileSync(kept)).toThrow('ENOENT')
    const worked = await reconcile(good, ...map)
    expect(worked).toMatchObject({ code: 1, out: expect.stringContaining('paid there') })
    expect(worked.err).toContain("Kept for redirect: --map 'id=Bank No,amount=Net'")
    expect(await reconcile(good)).toMatchObject({ code: 1, out: worked.out })
    const other = `id,amount,currency,date\n${id},25000,IQD,${day}\n`
    const stopped = await reconcile(other)
    expect(stopped.code).toBe(2)
    expect(stopped.err).toMatch(
      /no column of id \(Bank No\).*Kept for redirect.*--map none forgets/,
    )
    expect(await reconcile(other, '--map', 'none')).toMatchObject({ code: 1, err: '' })
  })
})
