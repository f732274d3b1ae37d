// A poller with the clock of this page, which knows when it is visible and online. An ended session
// shows the sign-in.

import { hostClock } from '../../worker/shared/clock.ts'
import { ApiProblem } from './http.ts'
import { Poller, type PollerDeps } from './poller.ts'
import { expire } from './session.ts'

export function openPagePoller(deps: Pick<PollerDeps, 'round' | 'onFreshness'>) {
  const poller = new Poller({
    ...deps,
    clock: hostClock,
    isVisible: () => !document.hidden,
    onFreshness(freshness) {
      deps.onFreshness(freshness)
      const problem = freshness.name === 'unreachable' ? freshness.problem : undefined
      if (problem instanceof ApiProblem && problem.code === 'unauthorized') expire(problem)
    },
  })
  const wake = () => poller.wake()
  document.addEventListener('visibilitychange', wake)
  addEventListener('online', wake)
  return {
    refresh: () => poller.refresh(),
    close(): void {
      poller.stop()
      document.removeEventListener('visibilitychange', wake)
      removeEventListener('online', wake)
    },
  }
}
