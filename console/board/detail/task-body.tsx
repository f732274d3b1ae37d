// The content of the open task, from its facts to its history.

import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'
import type { TaskDetail } from '../../../client/index.ts'
import type { Live } from '../../data/live/live.ts'
import { boardWords } from '../words.ts'
import { Checks, Runs } from './checks.tsx'
import { Extra, Facts } from './facts.tsx'
import { Markdown } from './markdown.tsx'
import { History, Sessions } from './sessions.tsx'
import { detailWords } from './words.ts'

export function TaskBody({ task, live }: { task: TaskDetail; live: Live }) {
  const { body = '', checks = [], sessions, runs, provenance = [], extra = {} } = task
  return (
    <>
      {task.invalid !== undefined && (
        <p class="notice stop">{boardWords.card.invalid(task.invalid)}</p>
      )}
      <Facts task={task} live={live} />
      <Part title={detailWords.body} isUntitled={STARTS_WITH_HEADING.test(body)}>
        {body.trim() === '' ? <p class="soft">{detailWords.noBody}</p> : <Markdown text={body} />}
      </Part>
      {checks.length > 0 && (
        <Part title={detailWords.checks} count={checks.length}>
          <Checks checks={checks} />
        </Part>
      )}
      {sessions.length > 0 && (
        <Part title={detailWords.sessions} count={sessions.length}>
          <Sessions sessions={sessions} />
        </Part>
      )}
      {runs.length > 0 && (
        <Part title={detailWords.runs} count={runs.length}>
          <Runs runs={runs} />
        </Part>
      )}
      {provenance.length > 0 && (
        <Part title={detailWords.history} count={provenance.length}>
          <History entries={provenance} />
        </Part>
      )}
      {Object.keys(extra).length > 0 && (
        <Part title={detailWords.extra}>
          <Extra fields={extra} />
        </Part>
      )}
    </>
  )
}

/** The bodies of some tools begin with a heading of their own. */
const STARTS_WITH_HEADING = /^\s*#{1,6}\s/

interface PartProps {
  title: string
  /** The title is for screen readers only. */
  isUntitled?: boolean
  count?: number
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
