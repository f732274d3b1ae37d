// Which repository is looked at, and its one live board: opened when somebody is signed in, kept
// while other views are shown, closed when they sign out.

import { computed, effect, signal } from '@preact/signals'
import { coversPath, exactPaths, onlyPath } from '../../../worker/shared/repos.ts'
import { ApiProblem } from '../http.ts'
import { expire, type Session, session } from '../session.ts'
import { type Live, openLive } from './live.ts'

export type Repository =
  /** `path` is undefined where the session names exactly one: the edge knows which. */
  { name: 'chosen'; path: string | undefined } | { name: 'unchosen'; known: readonly string[] }

const KEPT = 'signalbox.repository'
const chosen = signal<string | undefined>(localStorage.getItem(KEPT) ?? undefined)

export const repository = computed<Repository>(() => {
  const now = session.value
  if (now.name !== 'signed-in') return { name: 'unchosen', known: [] }
  return decide(now.session, chosen.value)
})

/** Looks at another repository from now on, also after a reload. */
export function choose(path: string): void {
  localStorage.setItem(KEPT, path)
  chosen.value = path
}

function decide({ repos }: Session, wish: string | undefined): Repository {
  const only = onlyPath(repos)
  if (only !== undefined) return { name: 'chosen', path: only }
  if (wish !== undefined && coversPath(repos, wish)) return { name: 'chosen', path: wish }
  return { name: 'unchosen', known: exactPaths(repos) }
}

export const live = signal<Live | undefined>(undefined)

effect(() => {
  const { value } = repository
  const path = value.name === 'chosen' ? value.path : undefined
  const opened = value.name === 'chosen' ? openLive(path) : undefined
  live.value = opened
  return () => void opened?.close()
})

// The token has ended while the page was open: the sign-in says so.
effect(() => {
  const state = live.value?.state.value
  if (state?.name !== 'refused' || state.code !== 'unauthorized') return
  expire(new ApiProblem(401, state.code, state.error))
})
