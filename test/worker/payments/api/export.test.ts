import { describe, expect, it } from 'vitest'
import { exported, pagesOf } from '../../../../worker/payments/api/export.ts'
import { AUDIT_TABLE } from '../../../../worker/payments/api/reads-hono.ts'
import type { AuditRecord } from '../../../../worker/payments/domain/types.ts'

const act = (n: number, more: Partial<AuditRecord> = {}): AuditRecord => ({
  id: String(n).padStart(6, '0'),
  at: '2026-01-05T10:00:00.000Z',
  action: 'charge',
  subject: 'ada',
  amount: 25_000,
  currency: 'IQD',
  ...more,
})

/** Newest first, as the queries answer. */
const over = (all: readonly AuditRecord[]) => async (limit: number, cursor?: string) =>
  all.filter(({ id }) => cursor === undefined || id < cursor).slice(0, limit)

const text = async (format: 'csv' | 'jsonl', all: readonly AuditRecord[], before?: string) => {
  const { body } = await exported(format, AUDIT_TABLE, pagesOf(over(all), before))
  return await new Response(body).text()
}

describe('an export of the audit trail', () => {
  it('is CSV whose texts a spreadsheet does not run', async () => {
    const subjects = ['=HYPERLINK("http://evil")', '+1', '-1', '@SUM(A1)', '\tx', 'a "b", c']
    const csv = await text(
      'csv',
      subjects.map((subject, n) => act(9 - n, { subject })),
    )
    const [head, ...lines] = csv.split('\r\n')
    expect(head).toBe(
      'id,at,action,subject,gateway,reference,transactionId,about,amount,currency,detail,invalid',
    )
    expect(lines.map((line) => line.split('"charge",')[1])).toEqual([
      `"'=HYPERLINK(""http://evil"")",,,,,25000,"IQD",,`,
      `"'+1",,,,,25000,"IQD",,`,
      `"'-1",,,,,25000,"IQD",,`,
      `"'@SUM(A1)",,,,,25000,"IQD",,`,
      `"'\tx",,,,,25000,"IQD",,`,
      `"a ""b"", c",,,,,25000,"IQD",,`,
      undefined,
    ])
  })

  it('guards what begins a cell after a separator or what cannot be seen', async () => {
    const subjects = ['a;=1+1', 'a\t@SUM(A1)', '\u200b=1+1', '\u0000 -1', 'x\r\n"+1', 'a=b; c-d']
    const csv = await text(
      'csv',
      subjects.map((subject, n) => act(9 - n, { subject })),
    )
    expect([...csv.matchAll(/"charge","((?:[^"]|"")*)"/g)].map(([, cell]) => cell)).toEqual([
      "a;'=1+1",
      "a\t'@SUM(A1)",
      "'\u200b=1+1",
      "'\u0000 -1",
      `x\r\n'""+1`,
      'a=b; c-d',
    ])
  })

  it('has all rows of all pages, from a cursor on', async () => {
    const all = Array.from({ length: 1_234 }, (_, n) => act(1_234 - n))
    const lines = (await text('jsonl', all)).trimEnd().split('\n')
    expect(lines.map((line) => JSON.parse(line))).toEqual(all)
    expect((await text('jsonl', all, act(3).id)).trimEnd().split('\n')).toHaveLength(2)
    expect(await text('jsonl', [])).toBe('')
  })

  it('fails before it answers, and breaks off where a later page cannot be read', async () => {
    const broken = async () => {
      throw new Error('no database')
    }
    await expect(exported('csv', AUDIT_TABLE, pagesOf(broken))).rejects.toThrow('no database')
    const all = Array.from({ length: 600 }, (_, n) => act(600 - n))
    const { body } = await exported(
      'csv',
      AUDIT_TABLE,
      pagesOf((limit, cursor) => (cursor === undefined ? over(all)(limit) : broken())),
    )
    await expect(new Response(body).text()).rejects.toThrow('no database')
  })

  it('never guards a number, whatever sign it begins with', async () => {
    const table = { name: 'sums', columns: ['amount', 'text'], numbers: ['amount'] }
    const pages = pagesOf(async () => [{ id: '1', amount: '-12.50', text: '-1' }])
    const { body } = await exported('csv', table, pages)
    expect(await new Response(body).text()).toBe(`amount,text\r\n-12.50,"'-1"\r\n`)
  })
})
