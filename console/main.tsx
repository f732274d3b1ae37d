// The page's entry: shows the sign-in, or the frame around the view that the URL names.

import './style/style.css'
import { effect } from '@preact/signals'
import { type ComponentType, render } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { View } from './address.ts'
import { BoardView } from './board/board-view.tsx'
import { HappenedView } from './board/happened/happened-view.tsx'
import { hasBoard, type Live, live } from './data/live.ts'
import { findSession, followOtherTabs, session } from './data/session.ts'
import { Frame } from './frame/frame.tsx'
import { SignIn } from './frame/sign-in.tsx'
import { BoardPicker } from './frame/switcher.tsx'
import { BrowserNotices } from './notices/browser-notices.tsx'
import { NoticesView } from './notices/notices-view.tsx'
import { PaymentsView } from './payments/payments-view.tsx'
import { replace, route } from './router.ts'
import { LOADING } from './ui/format.ts'

render(<App />, document.body)
followOtherTabs()
// A sign-in link signs in by itself, and asks for the session only if that fails.
if (route.value.view !== 'sign-in') void findSession()

// Links and a sign-in lead to the board.
effect(() => {
  if (hasBoard.value || route.value.view !== 'board') return
  replace({ view: 'payments', query: {} })
})

function App() {
  const { view } = route.value
  if (view === 'sign-in') return <SignIn />
  switch (session.value.name) {
    case 'unknown':
      return <p class="whole-page">{LOADING}</p>
    case 'signed-out':
      return <SignIn />
    case 'signed-in':
      return (
        <Frame>
          {viewOf(view)}
          {live.value && <BrowserNotices key={live.value.path} live={live.value} />}
        </Frame>
      )
  }
}

function viewOf(view: View) {
  switch (view) {
    case 'payments':
      return <PaymentsView />
    case 'books':
      return <LateBooks />
    case 'happened':
      return <Board of={HappenedView} />
    case 'notices':
      return <Board of={NoticesView} />
    default:
      return <Board of={BoardView} />
  }
}

/** Few look at the books, and what reads a file is large: it is loaded when they are opened. */
function LateBooks() {
  const [view, setView] = useState<{ Books: ComponentType } | { problem: string }>()
  useEffect(() => {
    import('./books/books-view.tsx').then(
      ({ BooksView }) => setView({ Books: BooksView }),
      () => setView({ problem: 'The books could not be loaded. Reload the page.' }),
    )
  }, [])
  if (!view) return <p class="whole-page">{LOADING}</p>
  return 'Books' in view ? <view.Books /> : <p class="problem-line">{view.problem}</p>
}

function Board({ of: Shown }: { of: ComponentType<{ live: Live }> }) {
  if (!live.value) return <BoardPicker />
  // The key resets all state when the repository changes.
  return <Shown key={live.value.path} live={live.value} />
}
