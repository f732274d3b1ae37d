// Search and filters above a list. They are in the URL, so that a filtered list can be shared.

import type { ComponentChildren } from 'preact'
import { replace, route } from '../router.ts'
import { Select } from './elements.tsx'
import { useKey } from './keyboard.ts'

interface SearchFieldProps {
  /** What can be searched for. */
  hint: string
  value: string
  onText(text: string): void
  /** For keys in the search. */
  onKeyDown?: ((event: KeyboardEvent) => void) | undefined
}

export function SearchField({ hint, value, onText, onKeyDown }: SearchFieldProps) {
  useKey('/', focusSearch)
  return (
    <span class="search">
      <label class="visually-hidden" for={SEARCH_ID}>
        {hint}
      </label>
      <input
        id={SEARCH_ID}
        type="search"
        maxLength={255}
        value={value}
        placeholder={hint}
        autocomplete="off"
        spellcheck={false}
        aria-keyshortcuts="/"
        onInput={({ currentTarget }) => onText(currentTarget.value)}
        onKeyDown={onKeyDown}
      />
      <span class="key" aria-hidden="true">
        /
      </span>
    </span>
  )
}

interface FilterBarProps {
  label: string
  /** What can be searched for; missing: the search stands elsewhere. */
  hint?: string
  isFiltering: boolean
  /** The text of the button that shows everything. */
  clear: string
  /** For keys in the search. */
  onKeyDown?: (event: KeyboardEvent) => void
  children: ComponentChildren
}

export function FilterBar(props: FilterBarProps) {
  const { label, hint, isFiltering, clear, onKeyDown, children } = props
  return (
    <search class="filters" aria-label={label}>
      {hint !== undefined && (
        <SearchField
          hint={hint}
          value={route.value.query.q ?? ''}
          onText={(q) => filterBy({ q })}
          onKeyDown={onKeyDown}
        />
      )}
      <div class="selects">
        {children}
        {isFiltering && (
          <button type="button" class="quiet small" onClick={clearFilters}>
            {clear}
          </button>
        )}
      </div>
    </search>
  )
}

export interface ChoiceProps {
  /** The filter's name in the URL. */
  name: string
  label: string
  isLabelled?: boolean
  chosen: string
  /** The text while nothing is chosen. */
  any: string
  values: readonly string[]
  /** The text of a value, where it differs. */
  textOf?: (value: string) => string
}

export function Choice({ name, chosen, any, values, textOf = String, ...select }: ChoiceProps) {
  if (values.length === 0 && chosen === '') return null
  // The URL may name a value that does not occur. Show it, since it filters.
  const all = chosen === '' || values.includes(chosen) ? values : [...values, chosen]
  return (
    <span class="choice">
      <Select
        class={chosen === '' ? undefined : 'chosen'}
        value={chosen}
        options={[['', any], ...all.map((value) => [value, textOf(value)] as const)]}
        onText={(value) => filterBy({ [name]: value })}
        {...select}
      />
    </span>
  )
}

export function filterBy(some: Readonly<Record<string, string>>): void {
  const { query, ...rest } = route.peek()
  const entries = Object.entries({ ...query, ...some }).filter(([, value]) => value !== '')
  replace({ ...rest, query: Object.fromEntries(entries) })
}

/** The button disappears with the filters, so the search field gets the focus. */
export function clearFilters(): void {
  const { sort = '', groups = '' } = route.peek().query
  replace({ ...route.peek(), query: {} })
  // They filter nothing.
  filterBy({ sort, groups })
  focusSearch()
}

const SEARCH_ID = 'search'

function focusSearch(): void {
  const field = document.getElementById(SEARCH_ID)
  if (!(field instanceof HTMLInputElement)) return
  field.focus()
  field.select()
}
