// The frame around every view: name, navigation, the lamps of the connection, and the last change
// messages, which show that the stream works.

import type { ComponentChildren } from 'preact'
import { useErrorBoundary, useState } from 'preact/hooks'
import type { Session, Signal } from '../../libraries/client/index.ts'
import type { View } from '../address.ts'
import { ApiProblem, problemText } from '../data/http.ts'
import { canSwitch, hasBoard, type Live, live } from '../data/live.ts'
import { may, signOut } from '../data/session.ts'
import { linkTo, route } from '../router.ts'
import { Dialog, type Fact, Facts } from '../ui/elements.tsx'
import { timeOf } from '../ui/format.ts'
import { useKey } from '../ui/keyboard.ts'
import { now } from '../ui/time.tsx'
import { lampOf, sidecarLamp } from './lamp.ts'
import { MainBranch } from './main-branch.tsx'
import { SessionEnd } from './session-end.tsx'
import { Name } from './switcher.tsx'

export function Frame({ children }: { children: ComponentChildren }) {
  return (
    <div class="frame">
      <button type="button" class="skip" onClick={skip}>
        Skip to the content
      </button>
      <header class="bar row" data-view={route.value.view}>
        <Name />
        <nav aria-label="Views">
          {hasBoard.value && <ViewLink view="board">Board</ViewLink>}
          {may('payments:read') && <ViewLink view="payments">Payments</ViewLink>}
          {may('payments:read') && <ViewLink view="books">Books</ViewLink>}
        </nav>
        <div class="bar-end row">
          {live.value && <Connection live={live.value} />}
          <Shortcuts />
          <SignOut />
        </div>
      </header>
      <main id="content" tabIndex={-1}>
        <SessionEnd />
        <ErrorBoundary key={route.value.view}>{children}</ErrorBoundary>
      </main>
      {live.value && route.value.view === 'board' && <SignalStrip live={live.value} />}
    </div>
  )
}

function ViewLink({ view, children }: { view: View; children: string }) {
  const isHere = route.value.view === view
  return (
    <a href={linkTo({ view, query: {} })} aria-current={isHere ? 'page' : undefined}>
      {children}
    </a>
  )
}

/** Those of the page that is shown. */
const KEYS_OF_PAYMENTS: readonly Fact[] = [
  ['/', 'Search; ↓ leads to the first payment'],
  ['↑ ↓', 'Move between payments'],
  ['Enter', 'Open the payment; in the search, a single find'],
  ['Esc', 'Close what is open'],
  ['?', 'Show these keys'],
]
const SWITCH_KEY: Fact = ['b', 'Show the boards: type to find one, arrows and Enter choose it']
const KEYS: readonly Fact[] = [
  ['/', 'Search; ↓ leads to the first card'],
  ['← ↑ ↓ →', 'Move between cards'],
  ['Home, End', 'First and last card of a column'],
  ['Enter', 'Open the card'],
  ['Esc', 'Close what is open, or leave the search'],
  ['?', 'Show these keys'],
]

function Shortcuts() {
  const [isOpen, setOpen] = useState(false)
  useKey('?', () => setOpen(true))
  const { view } = route.value
  const keys = view === 'payments' || view === 'books' ? KEYS_OF_PAYMENTS : KEYS
  return (
    <>
      <button
        type="button"
        class="quiet keys-button"
        aria-label="Keyboard shortcuts"
        aria-keyshortcuts="?"
        onClick={() => setOpen(true)}
      >
        ?
      </button>
      {isOpen && (
        <Dialog title="Keyboard shortcuts" onClose={() => setOpen(false)}>
          <Facts class="keys" of={canSwitch.value ? [SWITCH_KEY, ...keys] : keys} />
        </Dialog>
      )}
    </>
  )
}

function SignOut() {
  const [problem, setProblem] = useState<string>()
  const press = () =>
    signOut().catch((problem: unknown) => {
      if (!(problem instanceof ApiProblem)) throw problem
      setProblem(`You are still signed in. ${problemText(problem)}`)
    })
  return (
    <>
      <span class="problem-line" role="alert">
        {problem}
      </span>
      <button type="button" class="quiet" onClick={press}>
        Sign out
      </button>
    </>
  )
}

/** A button and not a link: the fragment of a link would be taken as a route. */
function skip(): void {
  document.getElementById('content')?.focus()
}

/** If a view throws, the frame stays, so the user can open another view. */
function ErrorBoundary({ children }: { children: ComponentChildren }) {
  const [error] = useErrorBoundary()
  if (error === undefined) return <>{children}</>
  return (
    <section class="problem" role="alert">
      <h1>This view has failed</h1>
      <p>Other views still work. Reload the page. If the error remains, report this text:</p>
      <pre>{String(error)}</pre>
    </section>
  )
}

function Connection({ live }: { live: Live }) {
  const { lamp, text } = sidecarLamp(live.state.value, now.value, live.reading.value !== undefined)
  return (
    <div class="connection">
      <MainBranch live={live} />
      <StreamLamp live={live} />
      <p class={`lamp ${lamp}`}>
        <span class="lamp-name">Sidecar</span>
        {/* It contains an age: announcing it each minute would disturb. */}
        <span>{text}</span>
      </p>
    </div>
  )
}

/** The open task covers the bar, so its dialog shows this lamp as well. */
export function StreamLamp({ live }: { live: Live }) {
  const { lamp, text, hint } = lampOf(live.state.value, now.value, live.reading.value)
  return (
    <p class={`lamp ${lamp}`} title={hint}>
      <span class="lamp-name">Board</span>
      <span role="status">{text}</span>
    </p>
  )
}

const SHOWN = 12

function SignalStrip({ live }: { live: Live }) {
  const signals = live.signals.value.slice(0, SHOWN)
  return (
    <footer class="strip">
      <h2>Last signals</h2>
      {signals.length === 0 ? (
        <p>Save a task, and its signal appears here.</p>
      ) : (
        <ol>
          {signals.map((signal) => (
            <li key={`${signal.id} ${signal.at}`}>
              <time dateTime={new Date(signal.at).toISOString()}>
                {timeOf(signal.at, now.value)}
              </time>{' '}
              <Message signal={signal} sessions={live.sessions.value} />
            </li>
          ))}
        </ol>
      )}
    </footer>
  )
}

interface MessageProps {
  signal: Signal
  sessions: ReadonlyMap<string, Session> | undefined
}

/** With a link to its task, as far as that is known. */
function Message({ signal: { message }, sessions }: MessageProps) {
  if (message.type === 'tasks-changed') return <>Tasks changed</>
  if (message.type === 'task-changed') return <TaskLink id={message.id} what="changed" />
  const task = sessions?.get(message.session)?.task
  return task === undefined ? <>A session changed</> : <TaskLink id={task} what="session changed" />
}

const TaskLink = ({ id, what }: { id: string; what: string }) => (
  <>
    <a href={linkTo({ view: 'board', id, query: route.value.query })}>{id}</a> {what}
  </>
)
