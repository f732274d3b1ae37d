// What moved on one day, a row each; and the movements of any span as files.

import { useEffect, useState } from 'preact/hooks'
import type { Movement } from '../../libraries/api/types.ts'
import { NO_ANSWER } from '../data/http.ts'
import { Money } from '../payments/elements.tsx'
import { linkTo } from '../router.ts'
import { LOADING, timeOf } from '../ui/format.ts'
import { dayAfter } from './months.ts'
import { Table } from './table.tsx'

/** So many are shown; a file has all. */
const MOST_ROWS = 500

const KINDS: Readonly<Record<Movement['kind'], string>> = {
  paid: 'Paid',
  late_paid: 'Paid late',
  refunded: 'Refunded',
  refund_failed: 'Refund failed',
  refused_paid: 'Paid, refused for its amount',
  disputed: 'Disputed',
  dispute_returned: 'Given back by the bank',
}

export function Day({ day, zone }: { day: string; zone: string }) {
  const [shown, setShown] = useState<Movement[] | string>()
  const span = { after: day, before: dayAfter(day) }
  useEffect(() => {
    const asking = new AbortController()
    firstRows({ ...span, zone }, asking.signal).then(setShown, () => {
      if (!asking.signal.aborted) setShown(NO_ANSWER)
    })
    return () => asking.abort()
  }, [])
  return (
    <section class="panel stack" aria-labelledby="day">
      <h2 id="day">What moved on {day}</h2>
      {shown === undefined && <p role="status">{LOADING}</p>}
      {typeof shown === 'string' && <p class="problem-line">{shown}</p>}
      {typeof shown === 'object' && (
        <>
          {shown.length === 0 ? <p role="status">Nothing.</p> : <Rows of={shown} />}
          {shown.length === MOST_ROWS && <p class="hint">The first {MOST_ROWS}; a file has all.</p>}
        </>
      )}
      <Files span={span} zone={zone} />
    </section>
  )
}

const COLUMNS = [['Time'], ['What'], ['Payment'], ['Gateway'], ['Amount', 'number']] as const

const Rows = ({ of }: { of: readonly Movement[] }) => (
  <Table name="Movements" columns={COLUMNS}>
    {of.map(({ id, bookedAt, kind, transactionId, reference, ...row }) => (
      <tr key={id}>
        <td>{timeOf(Date.parse(bookedAt), Date.parse(bookedAt))}</td>
        <td>{KINDS[kind]}</td>
        <th scope="row">
          <a href={linkTo({ view: 'payments', id: transactionId, query: {} })} dir="auto">
            {reference}
          </a>
        </th>
        <td>{row.gateway}</td>
        <td class="number">
          <Money amount={row.amountMinor} currency={row.currency} />
        </td>
      </tr>
    ))}
  </Table>
)

interface FilesProps {
  span: { after: string; before: string }
  zone: string
}

export function Files({ span, zone }: FilesProps) {
  const csv = { ...span, zone, format: 'csv' }
  const sheet = { ...csv, for: 'spreadsheet' }
  return (
    <p class="hint">
      All of it <a href={pathOf(csv)}>as CSV</a>, or for a spreadsheet{' '}
      <a href={pathOf(sheet)}>with 12.50</a>,{' '}
      <a href={pathOf({ ...sheet, decimal: ',' })}>with 12,50</a>.
    </p>
  )
}

const pathOf = (query: Record<string, string>): string =>
  `/api/payments/movements?${new URLSearchParams(query)}`

/** They come while they are read: of a long day, the rest is not. */
async function firstRows(query: Record<string, string>, signal: AbortSignal): Promise<Movement[]> {
  const response = await fetch(pathOf({ ...query, format: 'jsonl' }), { signal })
  if (!response.ok || !response.body) throw new Error(`${response.status}`)
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  const lines: string[] = []
  let begun = ''
  while (lines.length < MOST_ROWS) {
    const { done, value } = await reader.read()
    if (done) break
    const parts = `${begun}${value}`.split('\n')
    begun = parts.pop() ?? ''
    lines.push(...parts)
  }
  void reader.cancel().catch(() => undefined)
  const rows = lines.map((line) => JSON.parse(line) as Movement | { invalid: string })
  return rows.filter((row): row is Movement => !('invalid' in row)).slice(0, MOST_ROWS)
}
