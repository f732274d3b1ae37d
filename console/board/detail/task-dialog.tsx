// The open task, in a dialog on top of the board.

import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import type { Live } from '../../data/live/live.ts'
import { StreamLamp } from '../../frame/connection.tsx'
import { CloseButton } from '../../ui/dialog.tsx'
import { WorkChip } from '../card-chips.tsx'
import { cardsOf, workState } from '../cards.ts'
import { statusName } from '../columns.ts'
import { TaskBody } from './task-body.tsx'
import type { TaskState } from './task-state.ts'
import { useTask } from './use-task.ts'
import { detailWords } from './words.ts'

interface TaskDialogProps {
  id: string
  live: Live
  onClose(): void
}

export function TaskDialog({ id, live, onClose }: TaskDialogProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  // Opens before the content renders: opening moves the focus, and then the heading takes it.
  useLayoutEffect(() => dialog.current?.showModal(), [])
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Esc closes as well.
    <dialog
      ref={dialog}
      class="task"
      aria-labelledby="task-heading"
      onCancel={(event) => {
        event.preventDefault()
        onClose()
      }}
      onClick={(event) => event.target === dialog.current && onClose()}
    >
      <Task key={id} id={id} live={live} onClose={onClose} />
    </dialog>
  )
}

function Task({ id, live, onClose }: TaskDialogProps) {
  const { state, retry } = useTask(live, id)
  const heading = useRef<HTMLHeadingElement>(null)
  // After a link from one task to another, reading continues at the new heading.
  useEffect(() => heading.current?.focus(), [])
  return (
    <article>
      <header>
        <span class="id">{id}</span>
        {state.name === 'shown' && <span class="status">{statusName(state.task.status)}</span>}
        {state.name === 'shown' && <TaskWork id={id} live={live} />}
        <StreamLamp live={live} />
        <CloseButton onClose={onClose} />
      </header>
      <div class="scroller">
        <h2 id="task-heading" ref={heading} tabIndex={-1} dir="auto">
          {titleOf(id, state, live)}
        </h2>
        <Problem state={state} onRetry={retry} />
        {state.name === 'shown' && <TaskBody task={state.task} live={live} />}
      </div>
    </article>
  )
}

function titleOf(id: string, state: TaskState, live: Live): string {
  switch (state.name) {
    case 'shown':
      return state.task.title
    case 'unknown':
      return detailWords.unknown(id)
    case 'loading':
      return live.tasks.value?.get(id)?.title ?? detailWords.loading(id)
    case 'failed':
      return id
  }
}

function Problem({ state, onRetry }: { state: TaskState; onRetry(): void }) {
  const sentence = sentenceOf(state)
  return (
    // Stays in the document while empty: screen readers announce only changes of existing elements.
    <div role="status" class={sentence === undefined ? undefined : 'notice caution'}>
      {sentence !== undefined && <p>{sentence}</p>}
      {'problem' in state && (
        <button type="button" class="quiet" onClick={onRetry}>
          {detailWords.again}
        </button>
      )}
    </div>
  )
}

function sentenceOf(state: TaskState): string | undefined {
  switch (state.name) {
    case 'loading':
      return undefined
    case 'unknown':
      return detailWords.unknownHint
    case 'failed':
      return detailWords.failedEmpty(state.problem)
    case 'shown':
      if (state.isGone) return detailWords.gone
      return state.problem === undefined ? undefined : detailWords.failed(state.problem)
  }
}

export function TaskWork({ id, live }: { id: string; live: Live }) {
  const tasks = live.tasks.value
  const task = tasks?.get(id)
  if (!tasks || !task) return null
  const related = [task, ...(task.deps ?? []).flatMap((dep) => tasks.get(dep) ?? [])]
  const board = {
    tasks: new Map(related.map((it) => [it.id, it])),
    sessions: live.sessions.value,
    config: live.status.value?.config,
  }
  const card = cardsOf(board, new Map()).get(id)
  const state = card && workState(card)
  return state ? <WorkChip workState={state} /> : null
}
