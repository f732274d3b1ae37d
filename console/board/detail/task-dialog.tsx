// The open task, in a dialog on top of the board. It is fetched again whenever it may have changed.

import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { Signal } from '../../../libraries/client/index.ts'
import type { Live } from '../../data/live.ts'
import { StreamLamp } from '../../frame/frame.tsx'
import { CloseButton } from '../../ui/elements.tsx'
import { Title, WorkChip } from '../card.tsx'
import { cardMaker, statusName } from '../cards.ts'
import { useBoard } from '../use-board.ts'
import { TaskBody } from './task-body.tsx'
import { answered, type TaskState } from './task-state.ts'

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
      <TaskView key={id} id={id} live={live} onClose={onClose} />
    </dialog>
  )
}

function TaskView({ id, live, onClose }: TaskDialogProps) {
  const { state, retry } = useTask(live, id)
  const heading = useRef<HTMLHeadingElement>(null)
  const title = titleOf(id, state, live)
  // After a link from one task to another, reading continues at the new heading.
  useEffect(() => heading.current?.focus(), [])
  return (
    <article>
      <header>
        {title !== id && <span class="id">{id}</span>}
        {state.name === 'shown' && <span class="status">{statusName(state.task.status)}</span>}
        {state.name === 'shown' && <Work id={id} live={live} />}
        <StreamLamp live={live} />
        <CloseButton onClose={onClose} />
      </header>
      <div class="scroller">
        <h2 id="task-heading" ref={heading} tabIndex={-1} dir="auto">
          <Title of={title} />
        </h2>
        <Problem state={state} onRetry={retry} />
        {state.name === 'shown' && <TaskBody task={state.task} live={live} />}
      </div>
    </article>
  )
}

function useTask(live: Live, id: string): { state: TaskState; retry(): void } {
  const [state, setState] = useState<TaskState>({ name: 'loading' })
  const [tries, setTries] = useState(0)
  const trigger = useTrigger(live, id)
  useEffect(() => {
    let isWanted = true
    live.task(id).then(
      (task) => isWanted && setState((before) => answered(before, { task })),
      (error: unknown) => {
        const problem = error instanceof Error ? error.message : String(error)
        if (isWanted) setState((before) => answered(before, { problem }))
      },
    )
    return () => {
      isWanted = false
    }
  }, [live, id, trigger, tries])
  return { state, retry: () => setTries((n) => n + 1) }
}

/** Changes whenever the task may have changed. A needless fetch costs little (`304`). */
function useTrigger(live: Live, id: string): string {
  const liveSince = useRef(0)
  const state = live.state.value
  if (state.name === 'live') liveSince.current = state.since
  // A row of the list does not change with the body or the runs, but a message names the task.
  const lastSignal = live.signals.value.find((signal) => isAbout(signal, id))
  const sessions = [...(live.sessions.value?.values() ?? [])].filter(({ task }) => task === id)
  return JSON.stringify([
    live.changedAt.value.get(id),
    live.tasks.value?.has(id),
    lastSignal && [lastSignal.id, lastSignal.at],
    liveSince.current,
    sessions,
  ])
}

function isAbout({ message }: Signal, id: string): boolean {
  return message.type === 'task-changed' ? message.id === id : message.type === 'tasks-changed'
}

function titleOf(id: string, state: TaskState, live: Live): string {
  switch (state.name) {
    case 'shown':
      return state.task.title
    case 'unknown':
      return `There is no task ${id}.`
    case 'loading':
      return live.tasks.value?.get(id)?.title ?? `Loading ${id}…`
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
          Try again
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
      return 'It may have been deleted or renamed, or the link may be mistyped.'
    case 'failed':
      return `The task could not be loaded: ${state.problem}`
    case 'shown':
      if (state.isGone) return 'This task was deleted. The page shows its last known state.'
      return (
        state.problem &&
        `The task could not be loaded. The page may show an old state. ${state.problem}`
      )
  }
}

function Work({ id, live }: { id: string; live: Live }) {
  const board = useBoard(live)
  const task = board?.tasks.get(id)
  return board && task ? <WorkChip card={cardMaker(board)(task)} /> : null
}
