// The bar above the columns: search, filters, and how many tasks match.

import { useRef } from 'preact/hooks'
import { replace, route } from '../router.ts'
import { useKey } from '../ui/keyboard.ts'
import { statusName } from './columns.ts'
import { ALL, type Choices, type Filters, isFiltering } from './filters.ts'
import { focusCard } from './focus.ts'
import { boardWords } from './words.ts'

interface FilterBarProps {
  filters: Filters
  choices: Choices
  currentTag: string | undefined
  titleOf: (id: string) => string | undefined
  shown: number
  total: number
}

export function FilterBar(props: FilterBarProps) {
  const { filters, choices, currentTag, titleOf, shown, total } = props
  const texts = boardWords.filters
  const all = (values: readonly string[]) => (values.length > 0 ? [...values, ALL] : values)
  const executions = boardWords.card.execution
  return (
    <search class="board-filters" aria-label={texts.label}>
      <Search q={filters.q} />
      <div class="selects">
        <Choice
          name="folder"
          filters={filters}
          values={all(choices.folder)}
          label={(folder) => (folder === ALL ? texts.allFolders : statusName(folder))}
        />
        <Choice
          name="tag"
          filters={filters}
          values={all(choices.tag)}
          label={(tag) => (tag === ALL ? texts.any.tag : tag)}
          {...(currentTag !== undefined && { any: texts.currentTag(currentTag) })}
        />
        <Choice
          name="parent"
          filters={filters}
          values={choices.parent}
          label={(id) => `${id} ${titleOf(id) ?? ''}`}
        />
        <Choice name="assignee" filters={filters} values={choices.assignee} />
        <Choice name="label" filters={filters} values={choices.label} />
        <Choice name="priority" filters={filters} values={choices.priority} />
        <Choice
          name="execution"
          filters={filters}
          values={Object.keys(executions)}
          label={(state) => executions[state as keyof typeof executions] ?? state}
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
  name: keyof (typeof boardWords)['filters']['names']
  filters: Filters
  values: readonly string[]
  /** The text of a value, where it differs. */
  label?: (value: string) => string
  /** The text while nothing is chosen, where it differs. */
  any?: string
}

function Choice({ name, filters, values, label, any }: ChoiceProps) {
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
      <option value="">{any ?? texts.any[name]}</option>
      {options.map((value) => (
        <option key={value} value={value}>
          {label?.(value) ?? value}
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
