// What a comparison of a gateway's file found: each difference with its button, and the sums of
// both sides.

import {
  type ComparedRow,
  type Comparison,
  hasMoney,
  isDifference,
  weightOf,
} from '../../libraries/settlement/compare.ts'
import type { Payout } from '../../libraries/settlement/payouts.ts'
import type { Sum } from '../../libraries/settlement/sums.ts'
import { may } from '../data/session.ts'
import { Money } from '../payments/elements.tsx'
import { money, STATUSES } from '../payments/format.ts'
import { post } from '../payments/requests.ts'
import { linkTo } from '../router.ts'
import { ActionButton } from '../ui/action-button.tsx'
import { count } from '../ui/format.ts'
import { Table } from './table.tsx'

const MAX_SHOWN = 500

const CLASSES: Record<ComparedRow['class'], string> = {
  unreadable: 'Unreadable',
  unknown_word: 'Unknown word',
  not_ours: 'Not ours',
  other_currency: 'Other currency',
  other_amount: 'Other amount',
  paid_there: 'Paid there, not here',
  refunded_there: 'Refunded there, not here',
  refund_failed: 'Refund failed there, not here',
  refused_paid: 'Paid, refused here',
  late: 'Late',
  twice: 'Twice',
  same: 'The same',
  here_only: 'Here, not there',
}

const SUMS: Record<Sum['kind'], string> = {
  paid: 'Paid',
  refunded: 'Refunded',
  refund_failed: 'Refunds that failed',
  chargebacks: 'Chargebacks',
  fees: 'Fees',
  paid_out: 'Paid out',
}

const DIFFERENCE_COLUMNS = [
  ['Line'],
  ['Difference'],
  ['Payment'],
  ['There'],
  ['Here'],
  ['Adds', 'number'],
  [<span class="visually-hidden">What to do</span>],
] as const

export function Result({ comparison, again }: { comparison: Comparison; again: () => void }) {
  const { rows, counts, days, words, sums, payouts } = comparison
  // A word is told once.
  const different = rows.filter((each) => isDifference(each) && each.class !== 'unknown_word')
  const differences = different.length + counts.unknown_word
  return (
    <div class="stack" role="status">
      <p>
        {hasMoney(comparison)
          ? `${count(counts.same, 'row')} the same, ${count(differences, 'difference')}`
          : 'The file has no row of money'}
        {days ? `, ${days.first} to ${days.last}.` : '. The file has no dates.'}
        {leftOut(comparison)}
      </p>
      {words.length > 0 && (
        <ul>
          {words.map(({ word, column, rows: those }) => (
            <li key={`${column} ${word}`}>
              {count(those, 'row')} of the unknown {column} “{word}”. Say what it means under “If it
              is not read as it should be”.
            </li>
          ))}
        </ul>
      )}
      {different.length > 0 && (
        <Table name="Differences" columns={DIFFERENCE_COLUMNS}>
          {different.slice(0, MAX_SHOWN).map((each, at) => (
            <Difference key={at} of={each} again={again} />
          ))}
        </Table>
      )}
      {different.length > MAX_SHOWN && (
        <p class="hint">The first {MAX_SHOWN}. signalbox payments reconcile prints all.</p>
      )}
      {sums.length > 0 && <Sums of={sums} />}
      {payouts.length > 0 && <Payouts of={payouts} rows={rows} />}
    </div>
  )
}

function leftOut({ skipped, chargebacks, unpaid }: Comparison): string {
  const left = [
    ...(skipped > 0 ? [`${count(skipped, 'row')} of sums, fees and payouts`] : []),
    ...(chargebacks > 0 ? [`${count(chargebacks, 'row')} of chargebacks`] : []),
    ...(unpaid > 0 ? [`${count(unpaid, 'row')} whose money did not come`] : []),
  ]
  return left.length > 0 ? ` Left out: ${left.join(', ')}.` : ''
}

const SUM_COLUMNS = [
  ['Kind'],
  ['There', 'number'],
  ['Here', 'number'],
  ['Difference', 'number'],
] as const

const Sums = ({ of }: { of: readonly Sum[] }) => (
  <Table name="Sums of both sides" isShown columns={SUM_COLUMNS}>
    {of.map(({ kind, currency, there, here }) => (
      <tr key={`${kind} ${currency}`}>
        <th scope="row">{SUMS[kind]}</th>
        <td class="number">
          <Money amount={there} currency={currency} />
        </td>
        <td class="number">{here !== undefined && <Money amount={here} currency={currency} />}</td>
        <td class="number">
          {here !== undefined && there !== here && (
            <strong class="mismatch">
              <Money amount={there - here} currency={currency} />
            </strong>
          )}
        </td>
      </tr>
    ))}
  </Table>
)

/** What each payout has, with its rows. */
const Payouts = ({ of, rows }: { of: readonly Payout[]; rows: readonly ComparedRow[] }) => (
  <section class="stack" aria-labelledby="payouts">
    <h3 id="payouts">Payouts</h3>
    {of.map(({ id, currency, rows: size, gross, fees, net }) => (
      <details key={`${id} ${currency}`}>
        <summary>
          {id}: <Money amount={net} currency={currency} /> paid out, of{' '}
          <Money amount={gross} currency={currency} /> less fees of{' '}
          <Money amount={-fees} currency={currency} />, {count(size, 'row')}
        </summary>
        <Table name={`Rows of ${id}`} columns={DIFFERENCE_COLUMNS}>
          {rows
            .filter(({ row }) => row?.payout === id)
            .slice(0, MAX_SHOWN)
            .map((each) => (
              <Difference key={each.line} of={each} />
            ))}
        </Table>
      </details>
    ))}
  </section>
)

/** `again`: compares once more, after the gateway was asked. */
function Difference({ of, again }: { of: ComparedRow; again?: () => void }) {
  const { line, row, ours, movement, why, first } = of
  const id = ours?.transactionId ?? movement?.transactionId
  const named = row?.reference ?? row?.id ?? row?.ours ?? row?.refund
  const name = ours?.reference ?? movement?.reference ?? named
  const has = ours?.amount !== undefined && ours.currency !== undefined
  const status = ours?.status && STATUSES[ours.status]
  const here = has ? `${money(ours.amount ?? 0, ours.currency ?? '')} ${status}` : ''
  const weight = weightOf(of)
  const { currency } = row ?? movement ?? { currency: '' }
  const booked = movement && money(movement.amountMinor, movement.currency)
  return (
    <tr>
      <td>{line}</td>
      <th scope="row">{CLASSES[of.class]}</th>
      <td>
        {id === undefined ? name : <a href={linkTo({ view: 'payments', id, query: {} })}>{name}</a>}
      </td>
      <td>
        {row && `${row.type === 'refund' ? '−' : ''}${money(row.amount, row.currency)}`}
        {why}
        {first !== undefined && ` as line ${first}`}
      </td>
      <td>{booked ?? here}</td>
      <td class="number">{weight !== 0 && <Money amount={weight} currency={currency} />}</td>
      <td>
        {again && id !== undefined && may('payments:write') && (
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
