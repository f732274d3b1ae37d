// One card and its chips, which the details of a task use, too.

import { Component } from 'preact'
import type { Task } from '../../libraries/api/types.ts'
import { urgency } from '../../worker/board/tasks/next-task.ts'
import { linkTo } from '../router.ts'
import { timeOf } from '../ui/format.ts'
import { Lasting, now } from '../ui/time.tsx'
import {
  assigneesOf,
  type CardData,
  idEnd,
  inFile,
  nameOf,
  ONLY_IN_TREES,
  partOf,
  statusName,
  titleParts,
  treeText,
  unreadable,
  workState,
} from './cards.ts'

interface CardProps {
  card: CardData
  /** The task in whose group the card is, if any. */
  lane?: string | undefined
  /** When the task changed, in ms. */
  changedAt: number | undefined
  /** Whether this is the one card in the tab order. */
  isActive: boolean
}

/** Equal to `--flash` in style.css. */
const FLASH_MS = 2_400

/** A class, since `shouldComponentUpdate` limits rendering to real changes. */
export class Card extends Component<CardProps> {
  /** Alternates with each change: an animation restarts only under another name. */
  #isOdd = false

  override shouldComponentUpdate({ card, changedAt, isActive }: Readonly<CardProps>): boolean {
    const isChanged = changedAt !== this.props.changedAt
    if (isChanged) this.#isOdd = !this.#isOdd
    return isChanged || card !== this.props.card || isActive !== this.props.isActive
  }

  override render() {
    const { card, lane, isActive } = this.props
    const { id, title, invalid } = card.task
    return (
      <li class={`card ${edgeClass(card)} ${this.#flash()}`} data-card={id}>
        <Top task={card.task} lane={lane} parentTitle={card.parentTitle} />
        <a
          href={linkTo({ view: 'board', id })}
          data-open={id}
          tabIndex={isActive ? 0 : -1}
          aria-label={`${nameOf(card)}${sinceOf(card)}`}
        >
          <span class="title" dir="auto">
            <Title of={title} />
          </span>
        </a>
        <Worker card={card} />
        {card.progress !== undefined && (
          <p class="progress hint" dir="auto">
            {card.progress}
          </p>
        )}
        <Chips card={card} />
        {invalid !== undefined && (
          <p class="problem-line" aria-hidden="true">
            {unreadable(invalid)}
          </p>
        )}
      </li>
    )
  }

  /** Empty for a card that is rendered long after its change: after scrolling or filtering. */
  #flash(): string {
    const { changedAt } = this.props
    if (changedAt === undefined || Date.now() - changedAt > FLASH_MS) return ''
    return this.#isOdd ? 'changed odd' : 'changed'
  }
}

interface TopProps {
  task: Task
  lane: string | undefined
  parentTitle: string | undefined
}

/** Hidden from screen readers, since the name of the link contains it, as it contains the chips. */
function Top({ task, lane, parentTitle }: TopProps) {
  const { id, title, parent } = task
  const assignees = assigneesOf(task).join(', ')
  const end = idEnd(id)
  return (
    <p class="top" aria-hidden="true">
      {/* A change without a heading has its id as its title. */}
      {title !== id && (
        <span class="id" title={id}>
          <span>{id.slice(0, end)}</span>
          <span class="end">{id.slice(end)}</span>
        </span>
      )}
      {parent !== undefined && parent !== lane && parent !== id.slice(0, end) && (
        <span class="parent" title={parentTitle}>
          {partOf(parent)}
        </span>
      )}
      {assignees !== '' && <span class="assignee">{assignees}</span>}
    </p>
  )
}

/** With its code as code. It is text in every case, never HTML. */
export const Title = ({ of: title }: { of: string }) => (
  <>
    {titleParts(title).map(({ text, isCode }, at) =>
      isCode ? <code key={at}>{text}</code> : text,
    )}
  </>
)

interface TaskLinkProps {
  id: string
  title: string
  view?: 'board' | 'happened'
  query?: Readonly<Record<string, string>>
}

/** Opens the task in front of the view. */
export const TaskLink = ({ id, title, view = 'board', query }: TaskLinkProps) => (
  <a href={linkTo({ view, id, ...(query && { query }) })} data-open={id}>
    {title !== id && <span class="id">{id} </span>}
    <span dir="auto">
      <Title of={title} />
    </span>
  </a>
)

/** The CSS class for the colour of the edge. */
const edgeClass = (card: CardData): string =>
  card.task.invalid === undefined ? (workState(card)?.tone ?? '') : 'stop'

/** Above what was said last. What only may begin is among the chips. */
const Worker = ({ card }: { card: CardData }) =>
  isWork(card) && (
    <p class="chips" aria-hidden="true">
      <WorkChip card={card} />
    </p>
  )

const isWork = (card: CardData): boolean => {
  const tone = workState(card)?.tone
  return tone !== undefined && tone !== 'ready' && tone !== 'blocked'
}

/** Further labels are only counted. */
const MAX_LABELS = 4

function Chips({ card }: { card: CardData }) {
  const { status, priority, labels = [], trees = [] } = card.task
  const isBare = priority === undefined && labels.length === 0 && trees.length === 0
  const state = isWork(card) ? undefined : workState(card)
  if (!state && isBare && card.column === undefined) return null
  return (
    <p class="chips" aria-hidden="true">
      {state && <WorkChip card={card} />}
      {card.column !== undefined && <span class="chip">{inFile(status)}</span>}
      <TreeChips task={card.task} />
      {priority !== undefined && <PriorityChip priority={priority} />}
      <LabelChips labels={labels.slice(0, MAX_LABELS)} />
      {labels.length > MAX_LABELS && <span class="chip">+{labels.length - MAX_LABELS}</span>}
    </p>
  )
}

/** Further worktrees are only counted, or twelve of them would be most of a card. */
const MAX_TREES = 2

function TreeChips({ task }: { task: Task }) {
  const { trees = [] } = task
  const more = trees.slice(MAX_TREES)
  return (
    <>
      {task.inMain === false && <span class="chip tree">{ONLY_IN_TREES}</span>}
      {trees.slice(0, MAX_TREES).map((mark) => (
        <span class="chip tree" key={mark.tree} title={mark.branch} dir="auto">
          {treeText(mark, task)}
        </span>
      ))}
      {more.length > 0 && (
        <span class="chip tree" title={more.map((mark) => treeText(mark, task)).join('\n')}>
          +{more.length} worktrees
        </span>
      )}
    </>
  )
}

/** The state of the work, if there is anything to show; and how long it has been so. */
export function WorkChip({ card }: { card: CardData }) {
  const state = workState(card)
  if (!state) return null
  return (
    <span class={`chip work ${state.tone}`}>
      <span class="who">{state.text}</span>
      {card.since !== undefined && isWork(card) && (
        <span class="for">
          {' · '}
          <Lasting since={card.since} />
        </span>
      )}
    </span>
  )
}

const sinceOf = (card: CardData): string =>
  card.since !== undefined && isWork(card) ? `, since ${timeOf(card.since, now.peek())}` : ''

export const LabelChips = ({ labels }: { labels: readonly string[] }) => (
  <>
    {labels.map((label) => (
      <span class="chip" key={label} dir="auto">
        {label}
      </span>
    ))}
  </>
)

const HIGH = urgency('high')

export function PriorityChip({ priority }: { priority: string }) {
  const isHigh = urgency(priority) <= HIGH
  return (
    <span class={isHigh ? 'chip priority high' : 'chip priority'} title={`priority ${priority}`}>
      {isHigh && '↑ '}
      {statusName(priority)}
    </span>
  )
}
