// The selected repository and its live board. It is opened after the sign-in, stays open while
// other views are shown, and is closed on sign-out.

import { computed, effect, signal } from '@preact/signals'
import { coversPath, exactPaths, onlyPath } from '../../../worker/shared/repos.ts'
import { ApiProblem } from '../http.ts'
import { expire, type Session, session } from '../session.ts'
import { type Live, openLive } from './live.ts'

export type Repository =
  /** `path` is undefined if the session names exactly one, which the edge knows. */
  { name: 'chosen'; path: string | undefined } | { name: 'unchosen'; known: readonly string[] }

const STORAGE_KEY = 'signalbox.repository'
const chosen = signal<string | undefined>(localStorage.getItem(STORAGE_KEY) ?? undefined)

export const repository = computed<Repository>(() => {
  const now = session.value
  if (now.name !== 'signed-in') return { name: 'unchosen', known: [] }
  return decide(now.session, chosen.value)
})

/** Selects a repository, also for the time after a reload. */
export function choose(path: string): void {
  localStorage.setItem(STORAGE_KEY, path)
  chosen.value = path
}

function decide({ repos }: Session, wanted: string | undefined): Repository {
  const only = onlyPath(repos)
  if (only !== undefined) return { name: 'chosen', path: only }
  if (wanted !== undefined && coversPath(repos, wanted)) {
    return { name: 'chosen', path: wanted }
  }
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

// The token expired while the page was open: show the sign-in, with the reason.
effect(() => {
  const state = live.value?.state.value
  if (state?.name !== 'refused' || state.code !== 'unauthorized') return
  expire(new ApiProblem(401, state.code, state.error))
})
