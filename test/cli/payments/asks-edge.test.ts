// Commands that ask an edge about payments: reconcile, find, cancel, pause and resume, against one in this process.

import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Comparison } from '../../../libraries/settlement/compare.ts'
import { token } from '../../support/edge.ts'
import { serve, type TestServer } from '../../support/http.ts'
import { processEdge } from '../../support/in-process-edge.ts'
import {
  type PaymentsSetup,
  reported,
  setUpPayments,
  unavailable,
} from '../../support/payments-setup.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { quick, run } from '../run.ts'

let dir: string
let setup: PaymentsSetup
let server: TestServer
let scope: string
beforeEach(async () => {
  dir = tempFolder()
  setup = setUpPayments()
  const edge = processEdge({ payments: setup.payments })
  server = await serve(async (request) => {
    const { pathname, search } = new URL(request.url)
    const { method, headers } = request
    const body = method === 'POST' ? { body: await request.text() } : {}
    return await edge.fetch(`${pathname}${search}`, { method, headers, ...body })
  })
  scope = 'payments:read'
})
afterEach(() => server.close())

async function order(reference: string, isPaid = true): Promise<string> {
  const request = { gateway: 'bank', reference, amount: 25_000, currency: 'IQD' }
  await setup.clock.advance(1)
  const charged = await setup.payments.charge({ ...request, description: 'A lamp' })
  const { gatewayTransactionId = '' } = charged
  if (isPaid) await setup.webhook({ gatewayTransactionId })
  return gatewayTransactionId
}

/** A command of payments, with a token of `scope`. */
async function payments(...words: string[]) {
  await writeFile(join(dir, 'token'), await token({ scope, repos: [] }), { mode: 0o600 })
  const at = ['--edge', server.url, '--token-file', join(dir, 'token')]
  return await run(['payments', ...words, ...at], {}, { cwd: dir })
}

/** The files' own folder is where it is typed. */
async function reconcile(text: string, ...more: string[]) {
  await writeFile(join(dir, 'file.csv'), text)
  return quick(await payments('reconcile', 'file.csv', '--gateway', 'bank', ...more))
}

const HEAD = 'id,amount,currency,date\n'

describe('payments reconcile', () => {
  it('exits with 0 where all is the same', async () => {
    const id = await order('order-1')
    expect(await reconcile(`${HEAD}${id},25000,IQD,1970-01-01\n`)).toEqual({
      code: 0,
      out: `1 the same (1970-01-01 to 1970-01-01)

           there  here   difference
paid  IQD  25000  25000
`,
      err: '',
    })
  })

  it('prints what differs, and exits with 1', async () => {
    const id = await order('order-1')
    await order('order-2')
    const rows = [`${id},24000,IQD,1970-01-01`, 'nobody,1,IQD,1970-01-01', 'Total,24001,,']
    const { code, out } = await reconcile(`${HEAD}${rows.join('\n')}\n`)
    expect(code).toBe(1)
    expect(out).toMatch(/2 +other amount +order-1 +24000 IQD +25000 IQD Paid/)
    expect(out).toMatch(/3 +not ours +nobody +1 IQD/)
    expect(out).toMatch(/ +here and not there +order-2 +25000 IQD paid/)
    expect(out).toContain('1 not ours, 1 other amount, 1 here and not there (1970-01-01')
    expect(out).toContain('left out: 1 of sums')
  })

  it('prints one JSON object', async () => {
    const id = await order('order-1', false)
    const { code, out } = await reconcile(`${HEAD}${id},25000,IQD,1970-01-01\n`, '--json')
    const { rows, counts } = JSON.parse(out) as Comparison
    expect([code, counts.paid_there]).toEqual([1, 1])
    expect(rows).toMatchObject([{ class: 'paid_there', line: 2, ours: { reference: 'order-1' } }])
  })

  it('asks the gateway about each difference first with --ask', async () => {
    const id = await order('order-1', false)
    setup.script.status = () => reported('Paid')
    const text = `${HEAD}${id},25000,IQD,1970-01-01\n`
    expect(await reconcile(text, '--ask')).toMatchObject({ code: 2, err: /answered 403/ })
    scope = 'payments:read payments:write'
    expect(await reconcile(text, '--ask')).toMatchObject({ code: 0 })
  })

  it('goes on with --ask where a gateway cannot be asked: the difference stays', async () => {
    const id = await order('order-1', false)
    scope = 'payments:read payments:write'
    setup.script.status = unavailable
    const asked = await reconcile(`${HEAD}${id},25000,IQD,1970-01-01\n`, '--ask')
    expect(asked).toMatchObject({ code: 1, out: /1 paid there and not here/ })
  })

  it.each([
    ['a map that no column has', 'a,b\n1,2\n', [], /no column of amount/],
    ['a decimal sign', `${HEAD}x,"25,000",IQD,2026-01-01\n`, [], /--decimal/],
    ['the order of dates', `${HEAD}x,1,IQD,03/04/2026\n`, [], /--dates/],
    ['a currency', 'id,amount\nx,1\n', [], /--currency/],
    ['a good map', HEAD, ['--map', 'no=x'], /--map has/],
    ['good words', HEAD, ['--words', 'Sale=paid'], /--words has words with payment, refund, none/],
    ['a column of refunds', 'id,amount,currency,Debit\nx,1,IQD,2\n', [], /column Debit/],
    ['a time zone', HEAD, ['--zone', 'Mars'], /no time zone/],
  ])('stops where it needs %s', async (_what, text, more, why) => {
    const { code, out, err } = await reconcile(text, ...more)
    expect([code, out]).toEqual([2, ''])
    expect(err).toMatch(why)
  })

  it('needs a file that is there, a gateway, an edge and a token', async () => {
    const { code, err } = await run(['payments', 'reconcile'], {}, { cwd: dir })
    expect(code).toBe(2)
    expect(err).toContain('--gateway KEY')
  })

  it('ends with the sums of both sides: money that was settled twice shows there', async () => {
    const id = await order('order-1')
    const row = `${id},25000,IQD,1970-01-01\n`
    const { code, out } = await reconcile(`${HEAD}${row}${row}`)
    expect(code).toBe(1)
    expect(out).toMatch(/3 +twice: more rows than movements here +order-1 .* as line 2\n/)
    expect(out).toContain('1 twice: more rows than movements here, 1 the same')
    expect(out).toMatch(/\n +there +here +difference\npaid +IQD +50000 +25000 +25000\n$/)
  })

  it.each([
    ['only the names of its columns', ''],
    ['only sums and what was not paid', 'Total,5,IQD,1970-01-01,\nx,5,IQD,1970-01-01,failed\n'],
  ])('exits with 1 for a file with %s', async (_what, rows) => {
    const { code, out } = await reconcile(`id,amount,currency,date,status\n${rows}`)
    expect([code, out]).toEqual([1, expect.stringMatching(/^no row of money /)])
  })

  it('tells a word that it does not know once, and takes what --words teaches', async () => {
    const ids = [await order('order-1'), await order('order-2')]
    const text = `id,amount,currency,date,type\n${ids.map((id) => `${id},25000,IQD,1970-01-01,Vrac\n`).join('')}`
    const unknown = await reconcile(text)
    expect(unknown.code).toBe(1)
    expect(unknown.out).toContain(`2 of the unknown type "Vrac": teach it with --words 'Vrac=pay`)
    expect(unknown.out.match(/Vrac"/g)).toHaveLength(1)
    expect(unknown.out).toContain('2 of an unknown word, 2 here and not there')
    expect(await reconcile(text, '--words', 'vrac=payment')).toMatchObject({ code: 0 })
  })

  it('changes nothing by reading a file', async () => {
    await order('order-1')
    const before = await setup.payments.queries.transactions({}, { limit: 9 })
    await reconcile(`${HEAD}nobody,25000,IQD,1970-01-01\n`)
    expect(await setup.payments.queries.transactions({}, { limit: 9 })).toEqual(before)
    expect(await readFile(join(dir, 'file.csv'), 'utf8')).toContain('nobody')
  })
})

describe('payments find', () => {
  const find = (...words: string[]) => payments('find', ...words)

  it('prints what is found, and exits with 1 where nothing is', async () => {
    await order('ORD-10231')
    await order('ORD-10232', false)
    const line = (reference: string, status: string) =>
      expect.stringMatching(`^1970-01-01T\\S+  ${status} +25000 IQD  bank  ${reference}  0\\w+\n$`)
    expect(await find('#ord 10231')).toEqual({ code: 0, out: line('ORD-10231', 'Paid'), err: '' })
    expect(await find('--status', 'Pending')).toMatchObject({ out: line('ORD-10232', 'Pending') })
    const priced = await find('lamp', '--amount', '25000', '--currency', 'IQD', '--json')
    expect(JSON.parse(priced.out).transactions).toHaveLength(2)
    expect(await find('nobody')).toEqual({ code: 1, out: 'No payment matches.\n', err: '' })
  })

  it('says what it cannot ask, and what the edge refuses', async () => {
    expect(await find('--amount', '5')).toMatchObject({ code: 2, err: /with its --currency/ })
    expect(await find('--currency', 'dinar')).toMatchObject({ code: 2, err: /three capital/ })
    expect(await find('--after', 'monday')).toMatchObject({ code: 2, err: /ISO 8601/ })
    scope = 'board:read'
    expect(await find('a')).toMatchObject({ code: 2, err: /payments:read/ })
  })
})

describe('payments cancel', () => {
  const cancel = (id: string) => payments('cancel', id)

  it('says how a payment has ended, and why one cannot', async () => {
    scope = 'payments:write'
    const gatewayTransactionId = await order('order-1', false)
    const [open] = await setup.payments.queries.transactions({}, { limit: 1 })
    const { id = '' } = open ?? {}
    expect(await cancel(id)).toMatchObject({ code: 1, out: '', err: /bank cannot cancel/ })
    await setup.webhook({ gatewayTransactionId, status: 'Expired' })
    expect(await cancel(id)).toEqual({ code: 0, out: 'order-1 is Expired.\n', err: '' })
    expect(await cancel('nobody')).toMatchObject({ code: 1, err: /no transaction/ })
  })
})

describe('payments pause and resume', () => {
  it('say who has paused payments, and since when, however often they are typed', async () => {
    scope = 'payments:write'
    const paused = await payments('pause')
    expect(paused).toEqual({
      code: 0,
      out: expect.stringMatching(/^Payments are paused since \S+Z, by \S.*\.\n$/),
      err: '',
    })
    expect(await payments('pause')).toEqual(paused)
    await expect(order('order-1')).rejects.toMatchObject({ code: 'paused' })
    const resumed = { code: 0, out: 'Payments are not paused.\n', err: '' }
    expect(await payments('resume')).toEqual(resumed)
    expect(await payments('resume')).toEqual(resumed)
    await order('order-1')
  })

  it('need the right to write, an edge and a token', async () => {
    expect(await payments('pause')).toMatchObject({ code: 1, err: /payments:write/ })
    const { code, err } = await run(['payments', 'resume'], {}, { cwd: dir })
    expect([code, err]).toEqual([2, expect.stringContaining('--edge URL')])
  })
})
