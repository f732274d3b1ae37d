// Notices: the switch of this browser, the rules of the board, and the last deliveries, with those
// that failed.

import type { NoticeDelivery, Notices } from '../../libraries/api/types.ts'
import { CAUSE_WORDS } from '../../worker/shared/notice-rules.ts'
import type { Live } from '../data/live.ts'
import { usePolled } from '../data/use-read.ts'
import { linkTo } from '../router.ts'
import { count, LOADING } from '../ui/format.ts'
import { Age, Time } from '../ui/time.tsx'
import { Switch } from './browser-notices.tsx'

type Rule = Notices['rules'][number]

export function NoticesView({ live: { path } }: { live: Live }) {
  const query = new URLSearchParams({ path })
  const { answer, problem } = usePolled<Notices>(`/api/notices?${query}`)
  return (
    <div class="notices stack">
      <header class="row">
        <h1>Notices</h1>
        <p class="hint" role="status">
          {problem ?? (answer ? count(answer.rules.length, 'rule') : LOADING)}
        </p>
      </header>
      <section class="panel" aria-labelledby="here">
        <h2 id="here">This browser</h2>
        <p class="hint">
          While this page is open: a task that is stalled, silent or waits for a review, and ready
          tasks on which nobody works. Each once.
        </p>
        <Switch path={path} />
      </section>
      {answer && <Rules of={answer.rules} />}
      {answer && <Deliveries of={answer.deliveries} />}
    </div>
  )
}

const Rules = ({ of }: { of: readonly Rule[] }) => (
  <section class="panel" aria-labelledby="rules">
    <h2 id="rules">Rules</h2>
    {of.length === 0 && (
      <p class="hint">
        There are none: <code>notices</code> of <code>signalbox.config.ts</code> has them, or{' '}
        <code>--notify URL</code>.
      </p>
    )}
    <ul class="lines">
      {of.map(({ on, minutes, to, host, problem }) => (
        <li key={`${on} ${to} ${host}`}>
          <span class="what">
            <b>{CAUSE_WORDS[on]}</b>
            {minutes > 0 && ` for ${count(minutes, 'minute')}`}
          </span>
          <span class="hint">
            {on} to {receiverText({ to, host })}
          </span>
          {problem !== undefined && <span class="chip stop">{problem}</span>}
        </li>
      ))}
    </ul>
  </section>
)

const Deliveries = ({ of }: { of: readonly NoticeDelivery[] }) => (
  <section class="panel" aria-labelledby="deliveries">
    <h2 id="deliveries">Last deliveries</h2>
    {of.length === 0 && <p class="hint">There were none.</p>}
    <ol class="lines">
      {of.map((delivery) => (
        <DeliveryLine key={`${delivery.id} ${receiverText(delivery)}`} of={delivery} />
      ))}
    </ol>
  </section>
)

const TONES = { pending: 'chip caution', delivered: 'chip', failed: 'chip stop' } as const

const DeliveryLine = ({ of }: { of: NoticeDelivery }) => {
  const { at, state, attempts, nextAt, status, error, test, causes, more = 0 } = of
  const why = [status, error].filter((it) => it !== undefined).join(', ')
  return (
    <li>
      <span class="what">
        <span class={TONES[state]}>{state}</span>
        {test && <span class="chip">test</span>}
        {causes.map((cause) => (
          <CauseText key={`${cause.on} ${cause.task}`} of={cause} />
        ))}
        {more > 0 && `and ${more} more`}
      </span>
      <span class="hint">
        {receiverText(of)}
        {state !== 'delivered' && `, ${count(attempts, 'attempt')}`}
        {why !== '' && ` (${why})`}
        {nextAt !== undefined && (
          <>
            , again at <Time at={nextAt} />
          </>
        )}
      </span>
      <span class="when hint">
        <Age at={at} />
      </span>
    </li>
  )
}

type Cause = NoticeDelivery['causes'][number]

const CauseText = ({ of: { on, task, title, actor, ready } }: { of: Cause }) => (
  <span class="cause">
    {CAUSE_WORDS[on]} {ready !== undefined && `(${count(ready, 'task')}) `}
    {task !== undefined && (
      <a href={linkTo({ view: 'board', id: task })} dir="auto">
        {title ?? task}
      </a>
    )}
    {actor !== undefined && <span class="hint"> {actor}</span>}{' '}
  </span>
)

const receiverText = ({ to, host }: { to: string; host?: string | undefined }): string =>
  host === undefined ? to : `${to} at ${host}`
