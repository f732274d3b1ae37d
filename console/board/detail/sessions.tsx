// Who worked on a task: its sessions and its history.

import type { Provenance, Session } from '../../../api/types.ts'
import { now } from '../../data/clock.ts'
import { Fact } from '../../ui/fact.tsx'
import { Age } from '../../ui/time.tsx'
import { ago } from '../../ui/time-text.ts'
import { boardWords } from '../words.ts'
import { Markdown } from './markdown.tsx'
import { detailWords } from './words.ts'

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
  const { health, actor, summary, cancelReason, invalid, live } = session
  return (
    <li>
      <p class="who">
        <span class={`chip work ${health}`}>{detailWords.sessionHealth[health]}</span>
        <strong>{actor}</strong>
        <span class="soft">{[session.client, session.model].filter(Boolean).join(' · ')}</span>
      </p>
      {live && (
        <p class="live-line">
          {live.progress !== undefined && <span dir="auto">{live.progress}</span>}{' '}
          <span class="soft">
            {detailWords.heartbeat(ago(Date.parse(live.heartbeatAt), now.value))}
          </span>
        </p>
      )}
      {summary !== undefined && <Markdown text={summary} />}
      {cancelReason !== undefined && <p dir="auto">{detailWords.canceledBecause(cancelReason)}</p>}
      {invalid !== undefined && <p class="invalid-line">{boardWords.card.invalid(invalid)}</p>}
      <SessionFacts session={session} />
    </li>
  )
}

function SessionFacts({ session }: { session: Session }) {
  const { startedAt, endedAt, branch, headStarted, headFinished, live } = session
  return (
    <dl class="small-facts">
      <Fact name={detailWords.started}>
        <Age at={startedAt} />
      </Fact>
      <Fact name={detailWords.ended}>{endedAt && <Age at={endedAt} />}</Fact>
      <Fact name={detailWords.branch}>{branch && <code>{branch}</code>}</Fact>
      <Fact name={detailWords.commits}>
        {headStarted && (
          <code>{detailWords.span(short(headStarted), headFinished && short(headFinished))}</code>
        )}
      </Fact>
      <Fact name={detailWords.worktree}>{live?.worktree && <code>{live.worktree}</code>}</Fact>
    </dl>
  )
}

/** A commit hash, shortened as git does. */
const short = (hash: string) => hash.slice(0, 8)

export function History({ entries }: { entries: readonly Provenance[] }) {
  return (
    <ol class="history">
      {entries.toReversed().map(({ who, at, did, text }, index) => (
        // Counted from the oldest entry, so that a new entry does not change the keys of the
        // others.
        <li key={entries.length - index}>
          <p>
            <strong>{who}</strong> {did}{' '}
            <span class="soft">
              <Age at={at} />
            </span>
          </p>
          {text !== undefined && <p dir="auto">{text}</p>}
        </li>
      ))}
    </ol>
  )
}
