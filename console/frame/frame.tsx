// What stands around every view: the name, the views, the connection, and the last signals.

import type { ComponentChildren } from 'preact'
import { useErrorBoundary, useState } from 'preact/hooks'
import { formatRoute, type View } from '../address.ts'
import { ApiProblem } from '../data/http.ts'
import { live } from '../data/live/open.ts'
import { may, signOut } from '../data/session.ts'
import { route } from '../router.ts'
import { words } from '../words.ts'
import { Connection } from './connection.tsx'
import { SignalStrip } from './signal-strip.tsx'

export function Frame({ children }: { children: ComponentChildren }) {
  return (
    <div class="frame">
      <button type="button" class="skip" onClick={skip}>
        {words.skipToContent}
      </button>
      <header class="bar">
        <span class="name">{words.product}</span>
        <nav aria-label={words.navigation.label}>
          <ViewLink view="board">{words.navigation.board}</ViewLink>
          {may('payments:read') && <ViewLink view="payments">{words.navigation.payments}</ViewLink>}
        </nav>
        <div class="bar-end">
          {live.value && <Connection live={live.value} />}
          <SignOut />
        </div>
      </header>
      <main id="content" tabIndex={-1}>
        <Guarded key={route.value.view}>{children}</Guarded>
      </main>
      {live.value && <SignalStrip live={live.value} />}
    </div>
  )
}

function ViewLink({ view, children }: { view: View; children: string }) {
  const isHere = route.value.view === view
  return (
    <a href={formatRoute({ view, query: {} })} aria-current={isHere ? 'page' : undefined}>
      {children}
    </a>
  )
}

function SignOut() {
  const [hasFailed, setFailed] = useState(false)
  const press = () =>
    signOut().catch((problem: unknown) => {
      if (!(problem instanceof ApiProblem)) throw problem
      setFailed(true)
    })
  return (
    <>
      <span class="problem-line" role="alert">
        {hasFailed && words.navigation.notSignedOut}
      </span>
      <button type="button" class="quiet" onClick={press}>
        {words.navigation.signOut}
      </button>
    </>
  )
}

/** A button, since a link's fragment is the address of a view here and would lead away. */
function skip(): void {
  document.getElementById('content')?.focus()
}

/** One view's failure leaves the frame, and with it the way to the others. */
function Guarded({ children }: { children: ComponentChildren }) {
  const [error] = useErrorBoundary()
  if (error === undefined) return <>{children}</>
  return (
    <section class="problem" role="alert">
      <h1>{words.failed.title}</h1>
      <p>{words.failed.lead}</p>
      <pre>{String(error)}</pre>
    </section>
  )
}
