// Who is signed in. The token itself is in a cookie that no script can read.

import { signal } from '@preact/signals'
import { ApiProblem, ask } from './http.ts'

/** As `GET /api/session` answers. */
export interface Session {
  subject?: string
  scopes: readonly string[]
  /** Exact paths, or prefixes that end in `*`. */
  repos: readonly string[]
  expiresAt: string
}

export type SessionState =
  | { name: 'unknown' }
  | { name: 'signed-in'; session: Session }
  /** `problem`: why, where it is more than that nobody has signed in yet. */
  | { name: 'signed-out'; problem?: ApiProblem }

export const session = signal<SessionState>({ name: 'unknown' })

/** Between the tabs of this origin, which share the cookie. */
const SIGNED_OUT = 'signalbox.signed-out'

/** Asks the edge once, when the page opens. */
export async function findSession(): Promise<void> {
  await settle(ask<Session>('/api/session'), (problem) => problem.code === 'unauthorized')
}

/** By a token that was pasted, or by the code of a link. */
export async function signIn(by: { token: string } | { code: string }): Promise<void> {
  await settle(ask<Session>('/api/session', { method: 'POST', body: by }), () => false)
}

/** Takes the cookie back, which only the edge can. Throws ApiProblem where it does not answer. */
export async function signOut(): Promise<void> {
  try {
    await ask('/api/session', { method: 'DELETE' })
  } catch (problem) {
    // Whose token has ended is signed out already.
    if (!(problem instanceof ApiProblem) || problem.code !== 'unauthorized') throw problem
  }
  session.value = { name: 'signed-out' }
  const tabs = new BroadcastChannel(SIGNED_OUT)
  tabs.postMessage(null)
  tabs.close()
}

/** Or they would show the board until it changes: their stream was let in before. */
export function signOutWithOtherTabs(): void {
  new BroadcastChannel(SIGNED_OUT).onmessage = () => {
    session.value = { name: 'signed-out' }
  }
}

/** The edge has refused what the cookie holds. */
export function expire(problem: ApiProblem): void {
  session.value = { name: 'signed-out', problem }
}

async function settle(asked: Promise<Session>, isExpected: (p: ApiProblem) => boolean) {
  try {
    session.value = { name: 'signed-in', session: await asked }
  } catch (problem) {
    if (!(problem instanceof ApiProblem)) throw problem
    session.value = isExpected(problem) ? { name: 'signed-out' } : { name: 'signed-out', problem }
  }
}

/** Whether whoever is signed in may do this. */
export const may = (scope: string): boolean =>
  session.value.name === 'signed-in' && session.value.session.scopes.includes(scope)
