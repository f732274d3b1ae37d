// What happened since this person last looked, by agent or by task: first what somebody should look
// at, then one line for all that an agent did to a task.

import type { ComponentChildren } from 'preact'
import { useEffect, useId, useMemo, useRef } from 'preact/hooks'
import type { Activity } from '../../../libraries/api/types.ts'
import type { Live } from '../../data/live.ts'
import { usePolled } from '../../data/use-read.ts'
import { route } from '../../router.ts'
import { Choice } from '../../ui/filter-bar.tsx'
import { count, LOADING, number } from '../../ui/format.ts'
import { Age } from '../../ui/time.tsx'
import { TaskLink } from '../card.tsx'
import { TaskDialog } from '../detail/task-dialog.tsx'
import { useOpening } from '../use-opening.ts'
import { type Digest, digestOf, type Group, type Line } from './digest.ts'
import { type Looked, lookAgain, parseLooked } from './looked.ts'
import { Marks } from './task-history.tsx'

/** As many as the edge answers at once. */
const MOST = 1_000
const HOUR_MS = 3_600_000
const HOURS: Readonly<Record<string, number>> = { '24h': 24, '7d': 168 }
const BY_TASK = 'task'
/** Of each agent: eight of them are read within a minute. */
const SHOWN = 10
const FEW = 4

export function HappenedView({ live }: { live: Live }) {
  const view = useRef<HTMLDivElement>(null)
  const { open, close } = useOpening(view)
  const { id } = route.value
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it listens for the links within it.
    // biome-ignore lint/a11y/useKeyWithClickEvents: Enter on a link is a click.
    <div class="happened" ref={view} onClick={open}>
      <Happened live={live} />
      {id !== undefined && <TaskDialog id={id} live={live} onClose={close} />}
    </div>
  )
}

function Happened({ live }: { live: Live }) {
  const { since = '', by = '' } = route.value.query
  const { look, answer, problem } = useHappened(live.path, since)
  const digest = useMemo(() => answer && digestOf(answer.activity), [answer])
  return (
    <div class="stack">
      <header class="row">
        <h1>What happened</h1>
        <Choice
          name="since"
          label="Since when"
          chosen={since}
          any="Since you last looked"
          values={Object.keys(HOURS)}
          textOf={(hours) => (hours === '24h' ? 'In 24 hours' : 'In 7 days')}
        />
        <Choice
          name="by"
          label="In which order"
          chosen={by}
          any="By agent"
          values={[BY_TASK]}
          textOf={() => 'By task'}
        />
        <p class="hint" role="status">
          {problem ?? (digest ? count(digest.changes, 'change') : LOADING)}
          {since === '' && look.from !== undefined && digest && (
            <>
              {' since '}
              <Age at={look.from} />
            </>
          )}
        </p>
      </header>
      {answer?.next !== undefined && (
        <p class="notice caution">
          There are more: these are the last {number(MOST)}. <code>signalbox history</code> has all.
        </p>
      )}
      {digest && <DigestView digest={digest} isByTask={by === BY_TASK} />}
    </div>
  )
}

/** Reads what happened while it is shown, and keeps that this person saw it. */
function useHappened(path: string, since: string) {
  const key = `signalbox.looked ${path}`
  const look = useMemo<Looked>(
    () => lookAgain(parseLooked(localStorage.getItem(key)), Date.now()),
    [key],
  )
  const asked = useMemo(() => {
    const hours = HOURS[since] ?? HOURS['24h'] ?? 24
    const first = new Date(Date.now() - hours * HOUR_MS).toISOString()
    const from = since === '' ? (look.from ?? first) : first
    return `/api/activity?${new URLSearchParams({ path, since: from, limit: `${MOST}` })}`
  }, [path, since, look])
  const { answer, problem } = usePolled<Activity>(asked)
  useEffect(() => {
    const to = answer?.activity[0]?.at ?? look.to
    if (answer) localStorage.setItem(key, JSON.stringify({ ...look, to }))
  }, [answer])
  return { look, answer, problem }
}

const DigestView = ({ digest, isByTask }: { digest: Digest; isByTask: boolean }) => (
  <>
    {digest.changes === 0 && <p>Nothing since then.</p>}
    {digest.marked.length > 0 && (
      <Part title="To look at" count={digest.marked.length}>
        <Lines of={digest.marked} />
      </Part>
    )}
    {digest.board.length > 0 && (
      <Part title="The board" count={digest.board.length}>
        <ol class="lines">
          {digest.board.map(({ at, text }) => (
            <li key={`${at} ${text}`} class="whole-board">
              <span class="what">{text}</span> <When at={at} />
            </li>
          ))}
        </ol>
      </Part>
    )}
    {isByTask && digest.byTask.length > 0 && (
      <Part title="By task" count={digest.byTask.length}>
        <Lines of={digest.byTask} isByTask />
      </Part>
    )}
    {!isByTask && digest.byAgent.map((group) => <AgentPart key={group.who} group={group} />)}
  </>
)

const AgentPart = ({ group: { who, lines, sums } }: { group: Group }) => (
  <Part title={who || 'Without a claim'} count={lines.length}>
    {lines.length > FEW && <p class="hint">{sums.slice(0, FEW).map(sumText).join(', ')}</p>}
    <Lines of={lines.slice(0, SHOWN)} />
    {lines.length > SHOWN && (
      <details>
        <summary>{number(lines.length - SHOWN)} more</summary>
        <Lines of={lines.slice(SHOWN)} />
      </details>
    )}
  </Part>
)

const sumText = ([text, times]: readonly [string, number]): string => `${number(times)} × ${text}`

interface PartProps {
  title: string
  count: number
  children: ComponentChildren
}

function Part({ title, count, children }: PartProps) {
  const heading = useId()
  return (
    <section class="panel" aria-labelledby={heading}>
      <h2 id={heading} dir="auto">
        {title} <span class="count">{number(count)}</span>
      </h2>
      {children}
    </section>
  )
}

const Lines = ({ of, isByTask }: { of: readonly Line[]; isByTask?: true }) => (
  <ol class="lines">
    {of.map(({ task, title, text, said, at, marks, who }) => (
      <li key={task}>
        <TaskLink id={task} title={title} view="happened" query={route.value.query} />
        <span class="what">
          <Marks of={marks} />
          {text}
          {isByTask && who.length > 0 && <span class="hint"> by {who.join(', ')}</span>}
          {said !== undefined && (
            <q class="hint" dir="auto" title={said}>
              {said}
            </q>
          )}
        </span>
        <When at={at} />
      </li>
    ))}
  </ol>
)

const When = ({ at }: { at: string }) => (
  <span class="when hint">
    <Age at={at} />
  </span>
)
