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
import type { Books } from '../../libraries/settlement/ask-edge.ts'
import { type Comparison, compare } from '../../libraries/settlement/compare.ts'
import { type Reading, readSettlement } from '../../libraries/settlement/read-settlement.ts'
import { columnsTyped, FORM, wordsTyped } from '../../libraries/settlement/typed.ts'
import { problemText, request } from '../data/http.ts'
import { post } from '../payments/requests.ts'
import { Field, Form, Select, useOnce } from '../ui/elements.tsx'
import { Result } from './comparison.tsx'

const MAX_BYTES = 20 << 20

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
  const [words, setWords] = useState('')
  const [state, setState] = useState<State>({ name: 'idle' })
  const { isWorking, run } = useOnce(async () => {
    setState({ name: 'idle' })
    const chosen = file.current?.files?.[0]
    if (!chosen) return setState({ name: 'idle', problem: 'Choose a file first.' })
    if (chosen.size > MAX_BYTES) {
      const problem = 'It is larger than 20 MB: signalbox payments reconcile reads it.'
      return setState({ name: 'idle', problem })
    }
    const map = columns.trim() === '' ? {} : columnsTyped(columns, FORM)
    if (typeof map === 'string') return setState({ name: 'idle', problem: map })
    const taught = words.trim() === '' ? {} : wordsTyped(words, FORM)
    if (typeof taught === 'string') return setState({ name: 'idle', problem: taught })
    const reading: Reading = {
      map,
      words: taught,
      ...((decimal === '.' || decimal === ',') && { decimal }),
      ...((dates === 'dmy' || dates === 'mdy' || dates === 'ymd') && { dates }),
      ...(currency !== '' && { currency }),
    }
    const read = readSettlement(new Uint8Array(await chosen.arrayBuffer()), reading, FORM)
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
          <div class="reconcile">
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
              options={[
                ...AS_SHOWN,
                ['dmy', 'day first'],
                ['mdy', 'month first'],
                ['ymd', 'year first'],
              ]}
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
            <Field
              label="Words of type or state"
              hint="Such as Sale=payment, Vrac=none: payment, refund or none"
              value={words}
              onText={setWords}
            />
          </div>
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
