// A gateway's settlement file: read in the browser, compared at the edge, and each difference with
// its button. Nothing of the file is stored.

import { useEffect, useRef, useState } from 'preact/hooks'
import type {
  Gateway,
  Movement,
  MovementDays,
  Movements,
  Settled,
} from '../../libraries/api/types.ts'
import {
  type Books,
  type Compared,
  type Comparison,
  compare,
  isDifference,
} from '../../libraries/settlement/compare.ts'
import { type Reading, readSettlement } from '../../libraries/settlement/read-settlement.ts'
import { problemText, request } from '../data/http.ts'
import { may } from '../data/session.ts'
import { sumText } from '../payments/format.ts'
import { post } from '../payments/requests.ts'
import { linkTo } from '../router.ts'
import { ActionButton } from '../ui/action-button.tsx'
import { Field, Form, Select, useOnce } from '../ui/elements.tsx'
import { count } from '../ui/format.ts'

const MAX_BYTES = 20 << 20
const MAX_SHOWN = 500

type State =
  | { name: 'idle'; problem?: string }
  | { name: 'compared'; comparison: Comparison; gateway: string }

export function Reconcile({ zone }: { zone: string }) {
  const [gateways, setGateways] = useState<readonly Gateway[]>([])
  useEffect(() => {
    const asking = new AbortController()
    request<{ gateways: Gateway[] }>('/api/payments/gateways', asking).then(
      (answer) => setGateways(answer.gateways),
      // The rest of the page says that the edge does not answer.
      () => undefined,
    )
    return () => asking.abort()
  }, [])
  if (gateways.length === 0) return null
  return (
    <section class="panel stack" aria-labelledby="reconcile">
      <h2 id="reconcile">Compare a gateway’s file</h2>
      <ReconcileForm gateways={gateways} zone={zone} />
    </section>
  )
}

function ReconcileForm({ gateways, zone }: { gateways: readonly Gateway[]; zone: string }) {
  const file = useRef<HTMLInputElement>(null)
  const [gateway, setGateway] = useState(gateways[0]?.key ?? '')
  const [decimal, setDecimal] = useState('')
  const [dates, setDates] = useState('')
  const [currency, setCurrency] = useState('')
  const [columns, setColumns] = useState('')
  const [state, setState] = useState<State>({ name: 'idle' })
  const { isWorking, run } = useOnce(async () => {
    setState({ name: 'idle' })
    const chosen = file.current?.files?.[0]
    if (!chosen) return setState({ name: 'idle', problem: 'Choose a file first.' })
    if (chosen.size > MAX_BYTES) {
      const problem = 'It is larger than 20 MB: signalbox payments reconcile reads it.'
      return setState({ name: 'idle', problem })
    }
    const map = Object.fromEntries(columns.split(',').flatMap((part) => pairOf(part)))
    const reading: Reading = {
      map,
      ...((decimal === '.' || decimal === ',') && { decimal }),
      ...((dates === 'dmy' || dates === 'mdy') && { dates }),
      ...(currency !== '' && { currency }),
    }
    const read = readSettlement(new Uint8Array(await chosen.arrayBuffer()), reading)
    if (!read.ok) return setState({ name: 'idle', problem: read.message })
    try {
      const comparison = await compare(read.settlement, booksOf(gateway, zone), zone)
      setState({ name: 'compared', comparison, gateway })
    } catch (problem) {
      setState({ name: 'idle', problem: problemText(problem) })
    }
  })
  return (
    <>
      <Form class="reconcile" onSubmit={run}>
        <label for="settlement">Settlement file (CSV, up to 20 MB)</label>
        <input id="settlement" ref={file} type="file" accept=".csv,.tsv,.txt,text/csv" />
        <Select
          label="Gateway"
          isLabelled
          value={gateway}
          options={gateways.map(({ key }) => [key, key])}
          onText={setGateway}
        />
        <details>
          <summary>If it is not read as it should be</summary>
          <Select
            label="Decimals"
            isLabelled
            value={decimal}
            options={[...AS_SHOWN, ['.', 'after a point'], [',', 'after a comma']]}
            onText={setDecimal}
          />
          <Select
            label="Dates"
            isLabelled
            value={dates}
            options={[...AS_SHOWN, ['dmy', 'day first'], ['mdy', 'month first']]}
            onText={setDates}
          />
          <Field
            label="Currency, if no column has it"
            maxLength={3}
            value={currency}
            onText={setCurrency}
          />
          <Field
            label="Columns"
            hint="Such as id=Bank No, amount=Net, date=Value date"
            value={columns}
            onText={setColumns}
          />
        </details>
        <p role="alert" class="problem-line">
          {state.name === 'idle' && state.problem}
        </p>
        <button type="submit" aria-disabled={isWorking}>
          {isWorking ? 'Comparing…' : 'Compare'}
        </button>
      </Form>
      {state.name === 'compared' && <Result comparison={state.comparison} again={run} />}
    </>
  )
}

const AS_SHOWN = [['', 'as the file shows']] as const

function pairOf(part: string): [string, string][] {
  const [name = '', ...column] = part.split('=')
  const value = column.join('=').trim()
  return value === '' ? [] : [[name.trim(), value]]
}

/** The movements come day by day: a month of a busy shop is long. */
function booksOf(gateway: string, zone: string): Books {
  return {
    settle: async (rows) => (await post<Settled>('/reconcile', { gateway, rows })).rows,
    async *movements(after, before) {
      const span = { gateway, after, before, zone }
      const query = new URLSearchParams(span)
      const path = '/api/payments/movements'
      const { days } = await request<MovementDays>(`${path}/days?${query}`)
      for (const { day } of days) {
        const next = new Date(Date.parse(day) + 86_400_000).toISOString().slice(0, 10)
        const ofDay = new URLSearchParams({ ...span, after: day, before: next })
        const { movements } = await request<Movements>(`${path}?${ofDay}`)
        yield* movements.filter((movement): movement is Movement => !('invalid' in movement))
      }
    },
  }
}

const CLASSES: Record<Compared['class'], string> = {
  unreadable: 'Unreadable',
  twice: 'Twice in the file',
  not_ours: 'Not ours',
  other_currency: 'Other currency',
  other_amount: 'Other amount',
  paid_there: 'Paid there, not here',
  refunded_there: 'Refunded there, not here',
  late: 'Late',
  same: 'The same',
  here_only: 'Here, not there',
}

function Result({ comparison, again }: { comparison: Comparison; again: () => void }) {
  const { rows, counts, days, skipped } = comparison
  const different = rows.filter(isDifference)
  return (
    <div class="stack" role="status">
      <p>
        {count(counts.same, 'row')} the same, {count(different.length, 'difference')}
        {days ? `, ${days.first} to ${days.last}.` : '. The file has no dates.'}
        {skipped > 0 && ` ${count(skipped, 'row')} of sums, fees and payouts left out.`}
      </p>
      {different.length > 0 && (
        <div class="table-scroll">
          <table class="books">
            <thead>
              <tr>
                <th scope="col">Line</th>
                <th scope="col">Difference</th>
                <th scope="col">Payment</th>
                <th scope="col">There</th>
                <th scope="col">Here</th>
                <th scope="col">
                  <span class="visually-hidden">What to do</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {different.slice(0, MAX_SHOWN).map((each, at) => (
                <Difference key={at} of={each} again={again} />
              ))}
            </tbody>
          </table>
        </div>
      )}
      {different.length > MAX_SHOWN && (
        <p class="hint">The first {MAX_SHOWN}. signalbox payments reconcile prints all.</p>
      )}
    </div>
  )
}

function Difference({ of, again }: { of: Compared; again: () => void }) {
  const { line, row, ours, movement, why, first } = of
  const id = ours?.transactionId ?? movement?.transactionId
  const name = ours?.reference ?? movement?.reference ?? row?.reference ?? row?.id ?? row?.ours
  const has = ours?.amount !== undefined && ours.currency !== undefined
  const here = has ? `${sumText(ours.amount ?? 0, ours.currency ?? '')} ${ours.status}` : ''
  const booked = movement && `${movement.amount} ${movement.currency}`
  return (
    <tr>
      <td>{line}</td>
      <th scope="row">{CLASSES[of.class]}</th>
      <td>
        {id === undefined ? name : <a href={linkTo({ view: 'payments', id, query: {} })}>{name}</a>}
      </td>
      <td>
        {row && `${row.type === 'refund' ? '−' : ''}${sumText(row.amount, row.currency)}`}
        {why}
        {first !== undefined && ` as line ${first}`}
      </td>
      <td>{booked ?? here}</td>
      <td>
        {id !== undefined && may('payments:write') && (
          <ActionButton
            label={`Ask the gateway about ${name}`}
            act={() => post(`/transactions/${encodeURIComponent(id)}/check`).then(again)}
          >
            Ask the gateway
          </ActionButton>
        )}
      </td>
    </tr>
  )
}
