// The filters above the columns, and how many tasks match.

import { Choice, type ChoiceProps, FilterBar, filterBy } from '../ui/filter-bar.tsx'
import { count, number } from '../ui/format.ts'
import { focusCard } from './card-grid.tsx'
import { EXECUTIONS, type Execution, plainTitle, statusName } from './cards.ts'
import { ALL, type Choices, type Filters, isFiltering } from './filters.ts'

interface BoardFiltersProps {
  filters: Filters
  choices: Choices
  currentTag: string | undefined
  titleOf: (id: string) => string | undefined
  shown: number
  total: number
  areGroups: boolean
  turnGroups(): void
}

export function BoardFilters(props: BoardFiltersProps) {
  const { filters, choices, currentTag, titleOf, shown, total, areGroups, turnGroups } = props
  const { folder, tag, parent, assignee, label, priority, execution, actor, tree } = choices
  const isFiltered = isFiltering(filters)
  const allTags = 'All tags'
  const selects: BoardChoice[] = [
    {
      name: 'folder',
      label: 'Folder',
      any: 'On the board',
      values: orAll(folder),
      textOf: (value) => (value === ALL ? 'All folders' : statusName(value)),
    },
    {
      name: 'tag',
      label: 'Tag',
      values: orAll(tag),
      any: currentTag === undefined ? allTags : `${currentTag} (current)`,
      textOf: (value) => (value === ALL ? allTags : value),
    },
    {
      name: 'parent',
      label: 'Part of',
      any: 'Part of anything',
      values: parent,
      textOf: (id) => [...new Set([id, plainTitle(titleOf(id) ?? '')])].join(' '),
    },
    { name: 'assignee', label: 'Assignee', any: 'Anybody', values: assignee },
    { name: 'label', label: 'Label', any: 'Any label', values: label },
    { name: 'priority', label: 'Priority', any: 'Any priority', values: priority },
    {
      name: 'execution',
      label: 'Work',
      any: 'Any work',
      values: execution,
      textOf: (state) => EXECUTIONS[state as Execution]?.text ?? state,
    },
    { name: 'actor', label: 'Who works', any: 'Whoever works', values: actor },
    { name: 'tree', label: 'Worktree', any: 'Any worktree', values: tree },
  ]
  return (
    <FilterBar
      label="Search and filters"
      hint="Search id, title, label, person"
      isFiltering={isFiltered}
      clear="Clear filters"
      onKeyDown={leaveByKey}
    >
      {selects.map((select) => (
        <Choice key={select.name} {...select} chosen={filters[select.name]} />
      ))}
      {parent.length > 0 && (
        <button type="button" class="quiet" aria-pressed={areGroups} onClick={turnGroups}>
          Groups
        </button>
      )}
      <p class="passing" role="status">
        {isFiltered && `${number(shown)} of `}
        {count(total, 'task')}
      </p>
    </FilterBar>
  )
}

type BoardChoice = Omit<ChoiceProps, 'chosen'> & { name: keyof Filters }

const orAll = (values: readonly string[]) => (values.length > 0 ? [...values, ALL] : values)

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
