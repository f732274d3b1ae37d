// What is shown: the sign-in, or the frame around the view that the address names.

import { BoardView } from './board/board-view.tsx'
import { live, repository } from './data/live/open.ts'
import { session } from './data/session.ts'
import { Frame } from './frame/frame.tsx'
import { RepositoryPicker } from './frame/repository-picker.tsx'
import { SignIn } from './frame/sign-in.tsx'
import { PaymentsView } from './payments/payments-view.tsx'
import { route } from './router.ts'
import { words } from './words.ts'

export function App() {
  const { view } = route.value
  if (view === 'sign-in') return <SignIn />
  switch (session.value.name) {
    case 'unknown':
      return <p class="whole-page">{words.loading}</p>
    case 'signed-out':
      return <SignIn />
    case 'signed-in':
      return <Frame>{view === 'payments' ? <PaymentsView /> : <Board />}</Frame>
  }
}

function Board() {
  if (repository.value.name === 'unchosen') return <RepositoryPicker />
  // Keyed: nothing of one repository's board is shown for another's.
  return live.value && <BoardView key={live.value.path} live={live.value} />
}
