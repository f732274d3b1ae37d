// The content of the open task: its facts, its description, its checks, who worked on it.

import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import type {
  Check,
  Provenance,
  Run,
  Session,
  Task,
  TaskDetail,
} from '../../../libraries/api/types.ts'
import type { Live } from '../../data/live.ts'
import { Facts } from '../../ui/elements.tsx'
import { ago, isWeb } from '../../ui/format.ts'
import { Age, now } from '../../ui/time.tsx'
import { LabelChips, PriorityChip, TaskLink, Title } from '../card.tsx'
import {
  assigneesOf,
  ONLY_IN_TREES,
  statusName,
  type TreeMark,
  treeText,
  unreadable,
  WORK,
} from '../cards.ts'
import { TaskHistory, useHistory } from '../happened/task-history.tsx'
import { EndClaim } from './end-claim.tsx'
import { colorOf } from './task-state.ts'

export function TaskBody({ task, live }: { task: TaskDetail; live: Live }) {
  const { body = '', checks = [], sessions, runs, provenance = [], extra = {} } = task
  const history = useHistory(live, task.id)
  const extras = Object.entries(extra).filter(
    ([, value]) => value !== null && !(Array.isArray(value) && value.length === 0),
  )
  return (
    <>
      {task.invalid !== undefined && <p class="notice stop">{unreadable(task.invalid)}</p>}
      <TaskFacts task={task} tasks={live.tasks.value ?? new Map()} />
      <Part title="Description" isUntitled={STARTS_WITH_HEADING.test(body)}>
        {body.trim() === '' ? <p class="hint">No description.</p> : <Markdown text={body} />}
      </Part>
      <Parts title="Checks" of={checks}>
        <ul class="checks">
          {/* Checks have no id, so the index is the key. */}
          {checks.map((check, at) => (
            <CheckItem key={at} check={check} />
          ))}
        </ul>
      </Parts>
      {history !== undefined && history.length > 0 && (
        <Part
          title="What happened"
          count={typeof history === 'string' ? undefined : history.length}
        >
          <TaskHistory of={history} />
        </Part>
      )}
      <Parts title="Sessions" of={sessions}>
        <ol class="sessions">
          {sessions.map((session) => (
            <SessionItem key={session.id} session={session} path={live.path} />
          ))}
        </ol>
      </Parts>
      <Parts title="Runs" of={runs}>
        <ol class="runs">
          {runs.map((run) => (
            <RunItem key={run.file} run={run} />
          ))}
        </ol>
      </Parts>
      <Parts title="History" of={provenance}>
        <History entries={provenance} />
      </Parts>
      {extras.length > 0 && (
        <Part title="Other fields">
          <Facts
            class="task-facts extra"
            of={extras.map(([name, value]) => [name, <Extra key={name} value={value} />])}
          />
        </Part>
      )}
    </>
  )
}

/** References and other lists are read as text. Only what has parts of its own is JSON. */
function Extra({ value }: { value: unknown }) {
  if (Array.isArray(value)) {
    return value.map((one: unknown, at) => (
      <div key={at}>
        <Extra value={one} />
      </div>
    ))
  }
  if (typeof value === 'object') return <pre>{JSON.stringify(value, undefined, 2)}</pre>
  const text = String(value)
  if (!isWeb(text)) return <span dir="auto">{text}</span>
  return (
    <a href={text} rel="noopener noreferrer" target="_blank">
      {text}
    </a>
  )
}

/** The bodies of some tools begin with a heading of their own. */
const STARTS_WITH_HEADING = /^\s*#{1,6}\s/

interface PartProps {
  title: string
  /** The title is for screen readers only. */
  isUntitled?: boolean
  count?: number | undefined
  children: ComponentChildren
}

function Part({ title, isUntitled = false, count, children }: PartProps) {
  const heading = useId()
  return (
    <section aria-labelledby={heading}>
      <h3 id={heading} class={isUntitled ? 'visually-hidden' : undefined}>
        {title} {count !== undefined && <span class="count">{count}</span>}
      </h3>
      {children}
    </section>
  )
}

/** A part with a list, which is omitted if the list is empty. */
function Parts({ of, ...part }: PartProps & { of: readonly unknown[] }) {
  return of.length === 0 ? null : <Part {...part} count={of.length} />
}

function TaskFacts({ task, tasks }: { task: TaskDetail; tasks: ReadonlyMap<string, Task> }) {
  const { priority, labels = [], parent, deps = [], updatedAt, folder, activeAttempt } = task
  const assignees = assigneesOf(task)
  const subtasks = [...tasks.values()].filter((other) => other.parent === task.id)
  const links = (ids: readonly string[]) => ids.length > 0 && <TaskLinks ids={ids} tasks={tasks} />
  return (
    <Facts
      class="task-facts"
      of={[
        [assignees.length > 1 ? 'Assignees' : 'Assignee', assignees.join(', ')],
        ['Priority', priority && <PriorityChip priority={priority} />],
        ['Type', task.type],
        ['Milestone', task.milestone],
        ['Due', task.dueDate],
        ['Complexity', task.complexity],
        ['Folder', folder && statusName(folder)],
        ['Tag', task.tag],
        [
          'Labels',
          labels.length > 0 && (
            <span class="chips">
              <LabelChips labels={labels} />
            </span>
          ),
        ],
        ['Part of', parent && links([parent])],
        ['Depends on', links(deps)],
        ['Subtasks', links(subtasks.map(({ id }) => id))],
        ['Updated', updatedAt && <Age at={updatedAt} />],
        ['Worktrees', task.trees && <Trees task={task} marks={task.trees} />],
        ['Attempt', activeAttempt && <span class="mono">{activeAttempt}</span>],
      ]}
    />
  )
}

/** Both states: the main tree's is in the header. */
const Trees = ({ task, marks }: { task: Task; marks: readonly TreeMark[] }) => (
  <ul class="task-links">
    {task.inMain === false && <li class="hint">{ONLY_IN_TREES}</li>}
    {marks.map((mark) => (
      <li key={mark.tree} title={mark.dir}>
        <span dir="auto">{treeText(mark, task)}</span>{' '}
        {mark.title !== undefined && mark.title !== task.title && (
          <span dir="auto">
            <Title of={mark.title} />{' '}
          </span>
        )}
        <span class="hint">
          {mark.branch !== undefined && `branch ${mark.branch} `}
          {mark.updatedAt !== undefined && <Age at={mark.updatedAt} />}
        </span>
      </li>
    ))}
  </ul>
)

interface TaskLinksProps {
  ids: readonly string[]
  tasks: ReadonlyMap<string, Task>
}

function TaskLinks({ ids, tasks }: TaskLinksProps) {
  return (
    <ul class="task-links">
      {ids.map((id) => {
        const task = tasks.get(id)
        if (!task) {
          return (
            <li key={id}>
              <span class="id">{id}</span> <span class="hint">does not exist</span>
            </li>
          )
        }
        return (
          <li key={id}>
            <TaskLink id={id} title={task.title} />{' '}
            <span class="hint">{statusName(task.status)}</span>
          </li>
        )
      })}
    </ul>
  )
}

function CheckItem({ check: { desc, cmd, type, result, cwd, timeout } }: { check: Check }) {
  const more = [
    type,
    cwd !== undefined && `in ${cwd}`,
    timeout !== undefined && `at most ${timeout} s`,
  ]
  return (
    <li>
      <span class={`result ${colorOf(result)}`}>{result ?? 'not run yet'}</span>
      <span class="check">
        <span dir="auto">{desc}</span>
        {cmd !== undefined && <code>{cmd}</code>}
        <span class="hint">{more.filter(Boolean).join(' · ')}</span>
      </span>
    </li>
  )
}

/** The output is folded. */
function RunItem({ run }: { run: Run }) {
  const { file, cmd, at, duration, cwd, head, tree, output = '', invalid } = run
  const where = [tree !== undefined && `worktree ${tree}`, cwd, head].filter(Boolean)
  return (
    <li>
      <details>
        <summary>
          <Outcome run={run} />
          <code>{cmd ?? file}</code>
          <span class="hint">
            {duration}
            {duration !== undefined && at !== undefined && ' · '}
            {at !== undefined && <Age at={at} />}
          </span>
        </summary>
        {invalid !== undefined && <p class="problem-line">{unreadable(invalid)}</p>}
        {where.length > 0 && <p class="hint mono">{where.join(' · ')}</p>}
        {output.trim() === '' ? (
          <p class="hint">No output.</p>
        ) : (
          // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys.
          <pre tabIndex={0}>{output}</pre>
        )}
      </details>
    </li>
  )
}

function Outcome({ run: { exit, timedout } }: { run: Run }) {
  if (exit === undefined) return <span class="result stop">unreadable</span>
  return (
    <span class={exit === 0 && !timedout ? 'result go' : 'result stop'}>
      {timedout ? 'timed out' : `exit ${exit}`}
    </span>
  )
}

const HEALTH: Readonly<Record<Session['health'], { tone: string; text: string }>> = {
  active: WORK.work,
  stalled: WORK.stalled,
  finished: { tone: '', text: 'Finished' },
  canceled: { tone: '', text: 'Canceled' },
}

function SessionItem({ session, path }: { session: Session; path: string }) {
  const { health, actor, summary, cancelReason, invalid, live } = session
  const { startedAt, endedAt, branch, headStarted, headFinished } = session
  const { tree: worktree = live?.worktree } = session
  const heads = [headStarted, headFinished].flatMap((head) => (head ? [shortHash(head)] : []))
  return (
    <li>
      <p class="who row">
        <span class={`chip work ${HEALTH[health].tone}`}>{HEALTH[health].text}</span>
        <strong>{actor}</strong>
        <span class="hint">{[session.client, session.model].filter(Boolean).join(' · ')}</span>
      </p>
      {live && (
        <p class="live-line">
          {live.progress !== undefined && <span dir="auto">{live.progress}</span>}{' '}
          <span class="hint">heartbeat {ago(Date.parse(live.heartbeatAt), now.value)}</span>
        </p>
      )}
      {summary !== undefined && <Markdown text={summary} />}
      {cancelReason !== undefined && <p dir="auto">Canceled: {cancelReason}</p>}
      {invalid !== undefined && <p class="problem-line">{unreadable(invalid)}</p>}
      <Facts
        class="small-facts row hint"
        of={[
          ['Started', <Age at={startedAt} />],
          ['Ended', endedAt && <Age at={endedAt} />],
          ['Branch', branch && <code>{branch}</code>],
          ['Commits', headStarted && <code>{heads.join(' → ')}</code>],
          ['Worktree', worktree && <code>{worktree}</code>],
        ]}
      />
      <EndClaim session={session} path={path} />
    </li>
  )
}

/** A commit hash, shortened as git does. */
const shortHash = (hash: string) => hash.slice(0, 8)

function History({ entries }: { entries: readonly Provenance[] }) {
  return (
    <ol class="history">
      {entries.toReversed().map(({ who, at, did, text }, index) => (
        // Counted from the oldest entry, so that a new entry does not change the keys of the
        // others.
        <li key={entries.length - index}>
          <p>
            <strong>{who}</strong> {did}{' '}
            <span class="hint">
              <Age at={at} />
            </span>
          </p>
          {text !== undefined && <p dir="auto">{text}</p>}
        </li>
      ))}
    </ol>
  )
}

type Shown = 'loading' | 'formatted' | 'plain'

/**
 * What formats it is loaded with the first opened task. Before that, and for what cannot be
 * formatted, the plain text is shown.
 */
function Markdown({ text }: { text: string }) {
  const container = useRef<HTMLDivElement>(null)
  const [shown, setShown] = useState<Shown>('loading')
  useEffect(() => {
    const wanted = new AbortController()
    const format = async () => {
      const { fragmentOf } = await import('./markdown.ts')
      return await fragmentOf(text, wanted.signal)
    }
    const show = (fragment?: DocumentFragment) => {
      if (wanted.signal.aborted) return
      container.current?.replaceChildren(...(fragment === undefined ? [] : [fragment]))
      setShown(fragment === undefined ? 'plain' : 'formatted')
    }
    format().then(show, () => show())
    return () => wanted.abort()
  }, [text])
  return (
    <div class="markdown" dir="auto">
      {shown === 'plain' && (
        <p class="hint">Shown as plain text, because it could not be formatted.</p>
      )}
      {shown !== 'formatted' && <p class="raw">{text}</p>}
      <div ref={container} />
    </div>
  )
}
