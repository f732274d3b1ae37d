// Who worked on a task: how each session stands, or what came of it.

import type { ComponentChildren } from 'preact'
import type { Session } from '../../../../board/wire.ts'
import { now } from '../../clock.ts'
import { Age } from '../../time.tsx'
import { ago } from '../../time-text.ts'
import { words } from '../../words.ts'
import { Markdown } from './markdown.tsx'

export function Sessions({ sessions }: { sessions: readonly Session[] }) {
  return (
    <ol class="sessions">
      {sessions.map((session) => (
        <SessionItem key={session.id} session={session} />
      ))}
    </ol>
  )
}

function SessionItem({ session }: { session: Session }) {
  const say = words.board.detail
  const { health, actor, summary, cancelReason, invalid, live } = session
  return (
    <li>
      <p class="who">
        <span class={`chip work ${health}`}>{say.sessionHealth[health]}</span>
        <strong>{actor}</strong>
        <span class="soft">{[session.client, session.model].filter(Boolean).join(' · ')}</span>
      </p>
      {live && (
        <p class="live-line">
          {live.progress !== undefined && <span dir="auto">{live.progress}</span>}{' '}
          <span class="soft">{say.heartbeat(ago(Date.parse(live.heartbeatAt), now.value))}</span>
        </p>
      )}
      {summary !== undefined && <Markdown text={summary} />}
      {cancelReason !== undefined && <p dir="auto">{say.canceledBecause(cancelReason)}</p>}
      {invalid !== undefined && <p class="invalid-line">{words.board.card.invalid(invalid)}</p>}
      <SessionFacts session={session} />
    </li>
  )
}

function SessionFacts({ session }: { session: Session }) {
  const say = words.board.detail
  const { startedAt, endedAt, branch, headStarted, headFinished, live } = session
  return (
    <dl class="small-facts">
      <Small name={say.started}>
        <Age at={startedAt} />
      </Small>
      {endedAt !== undefined && (
        <Small name={say.ended}>
          <Age at={endedAt} />
        </Small>
      )}
      {branch !== undefined && (
        <Small name={say.branch}>
          <code>{branch}</code>
        </Small>
      )}
      {headStarted !== undefined && (
        <Small name={say.commits}>
          <code>{say.span(short(headStarted), headFinished && short(headFinished))}</code>
        </Small>
      )}
      {live?.worktree !== undefined && (
        <Small name={say.worktree}>
          <code>{live.worktree}</code>
        </Small>
      )}
    </dl>
  )
}

function Small({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt> <dd>{children}</dd>
    </div>
  )
}

/** A commit as git shortens it. */
const short = (hash: string) => hash.slice(0, 8)
