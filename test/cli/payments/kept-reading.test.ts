// How settlement files are read, kept for each gateway: once it worked, until it is forgotten.

import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { keepReading, keptNames, readingOf } from '../../../cli/payments/kept-reading.ts'
import { oneProcess, Starts } from '../../support/local-system.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { run } from '../run.ts'

let file: string
beforeEach(() => {
  file = join(tempFolder(), 'reconcile.json')
})
const bank = () => ({ file, gateway: 'bank' })

describe('how a file is read', () => {
  const given = { map: 'id=Bank No, amount=Net', decimal: ',', delimiter: 'tab' } as const
  const all = { map: { id: 'Bank No', amount: 'Net' }, decimal: ',', delimiter: '\t' }

  it('is kept for its gateway once it worked, and not before', async () => {
    const reading = await readingOf(given, bank())
    expect(reading).toEqual(all)
    expect(await readingOf({}, bank())).toEqual({})
    await keepReading(reading, bank())
    expect(await readingOf({}, bank())).toEqual(all)
    expect(await readingOf({ decimal: '.' }, bank())).toEqual({ ...all, decimal: '.' })
    expect(await readingOf({}, { file, gateway: 'other' })).toEqual({})
  })

  it('is kept nowhere without a data folder', async () => {
    const nowhere = { file: undefined, gateway: 'bank' }
    await keepReading(await readingOf(given, nowhere), nowhere)
    expect(await readingOf({}, nowhere)).toEqual({})
    expect(await keptNames(nowhere)).toBeUndefined()
  })

  it('adds words to those that it was taught before, and a map replaces another', async () => {
    await keepReading(await readingOf({ words: 'Sale=payment', map: 'id=A' }, bank()), bank())
    const reading = await readingOf({ words: 'Vrac=none,Sale=refund', map: 'amount=B' }, bank())
    expect(reading).toEqual({ words: { Sale: 'refund', Vrac: 'none' }, map: { amount: 'B' } })
  })

  it('says which names are kept, and forgets them', async () => {
    await keepReading(await readingOf({ ...given, words: 'Vrac=none' }, bank()), bank())
    expect(await keptNames(bank())).toBe(
      "Kept for bank: --map 'id=Bank No,amount=Net' (--map none forgets it) and " +
        "--words 'Vrac=none' (--words none forgets it).",
    )
    expect(await readingOf({ map: 'none' }, bank())).toEqual({
      decimal: ',',
      delimiter: '\t',
      words: { Vrac: 'none' },
    })
    expect(await readingOf({ words: 'none' }, bank())).toEqual({ decimal: ',', delimiter: '\t' })
    expect(await keptNames(bank())).toBeUndefined()
  })
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
      return await run([...words, ...more], {}, { cwd: start.dataDir })
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
