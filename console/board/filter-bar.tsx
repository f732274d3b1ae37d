// The bar above the columns: search, filters, and how many tasks match.

import { useRef } from 'preact/hooks'
import { replace, route } from '../router.ts'
import { useKey } from '../ui/keyboard.ts'
import { type Choices, type Filters, isFiltering } from './filters.ts'
import { focusCard } from './focus.ts'
import { boardWords } from './words.ts'

interface FilterBarProps {
  filters: Filters
  choices: Choices
  shown: number
  total: number
}

export function FilterBar({ filters, choices, shown, total }: FilterBarProps) {
  const texts = boardWords.filters
  const executions = boardWords.card.execution
  return (
    <search class="board-filters" aria-label={texts.label}>
      <Search q={filters.q} />
      <div class="selects">
        <Choice name="assignee" filters={filters} values={choices.assignee} />
        <Choice name="label" filters={filters} values={choices.label} />
        <Choice name="priority" filters={filters} values={choices.priority} />
        <Choice
          name="execution"
          filters={filters}
          values={Object.keys(executions)}
          labels={executions}
        />
        <button
          type="button"
          class="quiet toggle"
          aria-pressed={filters.ready !== ''}
          onClick={() => filterBy({ ready: filters.ready === '' ? '1' : '' })}
        >
          {texts.ready}
        </button>
        <p class="passing" role="status">
          {isFiltering(filters) ? texts.some(shown, total) : texts.all(total)}
        </p>
        {isFiltering(filters) && (
          <button type="button" class="quiet clear" onClick={clearFilters}>
            {texts.clear}
          </button>
        )}
      </div>
    </search>
  )
}

function Search({ q }: { q: string }) {
  const field = useRef<HTMLInputElement>(null)
  useKey('/', () => {
    field.current?.focus()
    field.current?.select()
  })
  return (
    <label class="search">
      <span class="visually-hidden">{boardWords.filters.search}</span>
      <input
        ref={field}
        id={SEARCH_ID}
        type="search"
        value={q}
        placeholder={boardWords.filters.searchHint}
        autocomplete="off"
        spellcheck={false}
        aria-keyshortcuts="/"
        onInput={({ currentTarget }) => filterBy({ q: currentTarget.value })}
        onKeyDown={leaveByKey}
      />
      <span class="key" aria-hidden="true">
        /
      </span>
    </label>
  )
}

/** Esc clears the field, then leaves it. Arrow down and Enter move to the first found card. */
function leaveByKey(event: KeyboardEvent): void {
  const field = event.currentTarget as HTMLInputElement
  const isLeaving =
    event.key === 'ArrowDown' ||
    event.key === 'Enter' ||
    (event.key === 'Escape' && field.value === '')
  if (event.key === 'Escape') filterBy({ q: '' })
  if (isLeaving) focusCard(field.closest('.board'), '')
  if (isLeaving || event.key === 'Escape') event.preventDefault()
}

interface ChoiceProps {
  name: 'assignee' | 'label' | 'priority' | 'execution'
  filters: Filters
  values: readonly string[]
  /** Texts for values, where they differ. */
  labels?: Readonly<Record<string, string>>
}

function Choice({ name, filters, values, labels }: ChoiceProps) {
  const texts = boardWords.filters
  const chosen = filters[name]
  if (values.length === 0 && chosen === '') return null
  // The URL may name a value that the board does not have. Show it, since it filters.
  const options = chosen === '' || values.includes(chosen) ? values : [...values, chosen]
  return (
    <select
      aria-label={texts.names[name]}
      class={chosen === '' ? undefined : 'chosen'}
      value={chosen}
      onChange={({ currentTarget }) => filterBy({ [name]: currentTarget.value })}
    >
      <option value="">{texts.any[name]}</option>
      {options.map((value) => (
        <option key={value} value={value}>
          {labels?.[value] ?? value}
        </option>
      ))}
    </select>
  )
}

export const SEARCH_ID = 'board-search'

export function filterBy(some: Partial<Filters>): void {
  const { query, ...rest } = route.peek()
  const entries = Object.entries({ ...query, ...some }).filter(([, value]) => value !== '')
  replace({ ...rest, query: Object.fromEntries(entries) })
}

/** The button disappears with the filters, so the search field gets the focus. */
export function clearFilters(): void {
  replace({ ...route.peek(), query: {} })
  document.getElementById(SEARCH_ID)?.focus()
}
