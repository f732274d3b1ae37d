// The search, first on every page of payments. On their list it narrows while one types; Enter
// opens a single find, from every page.

import { useState } from 'preact/hooks'
import type { TransactionsPage } from '../../libraries/api/types.ts'
import { problemText, request } from '../data/http.ts'
import { go, route } from '../router.ts'
import { useOnce } from '../ui/elements.tsx'
import { filterBy, SearchField } from '../ui/filter-bar.tsx'
import { singleFind } from './found.ts'
import { filtersOf, pathOf } from './transactions-read.ts'

/** Among more nobody means a single one. */
const FEW = 20

export function Find() {
  const { view, id, query } = route.value
  const isList = view === 'payments' && id === undefined
  const [typed, setTyped] = useState('')
  const [problem, setProblem] = useState<string>()
  const q = isList ? (query.q ?? '') : typed
  const { run } = useOnce(async () => {
    if (q.trim() === '') return
    setProblem(undefined)
    const wanted = isList ? query : { q }
    try {
      const path = pathOf(filtersOf(wanted), FEW)
      const { transactions, cursor } = await request<TransactionsPage>(path)
      const only = cursor === undefined ? singleFind(transactions, q) : undefined
      setTyped('')
      go({ view: 'payments', query: wanted, ...(only && { id: only.id }) })
    } catch (problem) {
      setProblem(problemText(problem))
    }
  })
  return (
    <search class="find" aria-label="Payments">
      <SearchField
        hint="Number, name, amount or id"
        value={q}
        onText={isList ? (text) => filterBy({ q: text }) : setTyped}
        onKeyDown={({ key }) => {
          if (key === 'Enter') run()
          if (key === 'ArrowDown') focusRow(0)
        }}
      />
      <p role="alert" class="problem-line">
        {problem}
      </p>
    </search>
  )
}

/** The links of the rows: arrows lead from one to the next. */
const rowLinks = () => [...document.querySelectorAll<HTMLElement>('.transactions tbody th a')]

/** Above the first row is the search. */
function focusRow(at: number): void {
  const to = at < 0 ? document.getElementById('search') : rowLinks()[at]
  to?.focus()
}

export function moveInRows(event: KeyboardEvent): void {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
  const at = rowLinks().indexOf(document.activeElement as HTMLElement)
  if (step === undefined || at < 0) return
  event.preventDefault()
  focusRow(at + step)
}
