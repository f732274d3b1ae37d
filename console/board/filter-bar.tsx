// The filters above the columns, and how many tasks match.

import { Choice, FilterBar, filterBy } from '../ui/filter-bar.tsx'
import { count, number } from '../ui/text.ts'
import { EXECUTIONS, type Execution, statusName } from './cards.ts'
import { focusCard } from './columns-view.tsx'
import { ALL, type Choices, type Filters, isFiltering } from './filters.ts'

interface BoardFiltersProps {
  filters: Filters
  choices: Choices
  currentTag: string | undefined
  titleOf: (id: string) => string | undefined
  shown: number
  total: number
}

export function BoardFilters(props: BoardFiltersProps) {
  const { filters, choices, currentTag, titleOf, shown, total } = props
  const isFiltered = isFiltering(filters)
  const all = (values: readonly string[]) => (values.length > 0 ? [...values, ALL] : values)
  const choice = (
    name: keyof Choices | 'execution',
    label: string,
    any: string,
    values: readonly string[],
    textOf?: (value: string) => string,
  ) => (
    <Choice {...{ name, label, any, values, ...(textOf && { textOf }) }} chosen={filters[name]} />
  )
  return (
    <FilterBar
      label="Search and filters"
      hint="Search id, title, label, person"
      isFiltering={isFiltered}
      clear="Clear filters"
      onKeyDown={leaveByKey}
    >
      {choice('folder', 'Folder', 'On the board', all(choices.folder), (folder) =>
        folder === ALL ? 'All folders' : statusName(folder),
      )}
      {choice(
        'tag',
        'Tag',
        currentTag === undefined ? ALL_TAGS : `${currentTag} (current)`,
        all(choices.tag),
        (tag) => (tag === ALL ? ALL_TAGS : tag),
      )}
      {choice(
        'parent',
        'Part of',
        'Part of anything',
        choices.parent,
        (id) => `${id} ${titleOf(id) ?? ''}`,
      )}
      {choice('assignee', 'Assignee', 'Anybody', choices.assignee)}
      {choice('label', 'Label', 'Any label', choices.label)}
      {choice('priority', 'Priority', 'Any priority', choices.priority)}
      {choice(
        'execution',
        'Work',
        'Any work',
        Object.keys(EXECUTIONS),
        (state) => EXECUTIONS[state as Execution] ?? state,
      )}
      <button
        type="button"
        class="quiet toggle"
        aria-pressed={filters.ready !== ''}
        onClick={() => filterBy({ ready: filters.ready === '' ? '1' : '' })}
      >
        Ready only
      </button>
      <p class="passing" role="status">
        {isFiltered && `${number(shown)} of `}
        {count(total, 'task')}
      </p>
    </FilterBar>
  )
}

const ALL_TAGS = 'All tags'

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
