// What waits for a review, branch by branch, with a command that shows it. What is merged leaves by
// itself: the main tree has it then.

import { useId, useMemo } from 'preact/hooks'
import { statusesOf } from '../../worker/board/tasks/to-do.ts'
import type { Live } from '../data/live.ts'
import { Copyable } from '../ui/copyable.tsx'
import { count } from '../ui/format.ts'
import { Lasting } from '../ui/time.tsx'
import { TaskLink } from './card.tsx'
import type { CardData } from './cards.ts'
import { type Branch, branchesOf, lookCommand, type Reviewed } from './review.ts'

export function ReviewView({ cards, live }: { cards: readonly CardData[]; live: Live }) {
  const sessions = live.sessions.value
  const { config, main } = live.status.value ?? {}
  const branches = useMemo(
    () => branchesOf(cards, [...(sessions?.values() ?? [])], statusesOf(config).isClosed),
    [cards, sessions, config],
  )
  return (
    <div class="branches">
      {branches.map((branch) => (
        <BranchView key={branch.key} branch={branch} main={main?.branch ?? main?.head} />
      ))}
    </div>
  )
}

function BranchView({ branch, main }: { branch: Branch; main: string | undefined }) {
  const heading = useId()
  const { tree, branch: name = tree ?? 'Main tree', items } = branch
  const command = lookCommand(branch, main)
  return (
    <section class="panel" aria-labelledby={heading}>
      <header class="row">
        <h2 id={heading} dir="auto">
          {name}
        </h2>
        <span class="hint">
          {tree !== undefined && tree !== name && `worktree ${tree} · `}
          {count(items.length, 'task')} to review
        </span>
      </header>
      {command !== undefined && <Copyable text={command} what={`what shows ${name}`} />}
      <ol>
        {items.map((item) => (
          <ReviewedItem key={item.card.task.id} item={item} />
        ))}
      </ol>
    </section>
  )
}

function ReviewedItem({ item: { card, since, who, summary } }: { item: Reviewed }) {
  const { id, title } = card.task
  return (
    <li data-card={id}>
      <TaskLink id={id} title={title} />{' '}
      <span class="hint">
        {who !== undefined && `${who} · `}
        {since !== undefined && <Lasting since={since} />}
      </span>
      {summary !== undefined && <p dir="auto">{summary}</p>}
    </li>
  )
}
