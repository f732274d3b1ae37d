// Who is signed in. The token itself is in a cookie that no script can read.

import { signal } from '@preact/signals'
import type { SignedIn } from '../../libraries/api/types.ts'
import { ApiProblem, request } from './http.ts'

export type SessionState =
  | { name: 'unknown' }
  | { name: 'signed-in'; session: SignedIn }
  /** `problem`: why, unless the user simply has not signed in yet. */
  | { name: 'signed-out'; problem?: ApiProblem }

export const session = signal<SessionState>({ name: 'unknown' })

/** The channel between the tabs of this origin, which share the cookie. */
const SIGNED_OUT = 'signalbox.signed-out'

/** Reads the session once, when the page opens. */
export async function findSession(): Promise<void> {
  await apply(request<SignedIn>('/api/session'), (problem) => problem.code === 'unauthorized')
}

/** With a pasted token, or with the code of a link. */
export async function signIn(by: { token: string } | { code: string }): Promise<void> {
  await apply(request<SignedIn>('/api/session', { method: 'POST', body: by }), () => false)
}

/** Deletes the cookie, which only the edge can do. Throws ApiProblem if it does not answer. */
export async function signOut(): Promise<void> {
  try {
    await request('/api/session', { method: 'DELETE' })
  } catch (problem) {
    // With an expired token, the user is signed out already.
    if (!(problem instanceof ApiProblem) || problem.code !== 'unauthorized') throw problem
  }
  session.value = { name: 'signed-out' }
  const tabs = new BroadcastChannel(SIGNED_OUT)
  tabs.postMessage(null)
  tabs.close()
}

/** Without this, other tabs would still show the board: their streams stay open. */
export function signOutWithOtherTabs(): void {
  new BroadcastChannel(SIGNED_OUT).onmessage = () => {
    session.value = { name: 'signed-out' }
  }
}

/** Call this after the edge refused the cookie. */
export function expire(problem: ApiProblem): void {
  session.value = { name: 'signed-out', problem }
}

async function apply(response: Promise<SignedIn>, isExpected: (p: ApiProblem) => boolean) {
  try {
    session.value = { name: 'signed-in', session: await response }
  } catch (problem) {
    if (!(problem instanceof ApiProblem)) throw problem
    session.value = isExpected(problem) ? { name: 'signed-out' } : { name: 'signed-out', problem }
  }
}

/** Whether the session has this scope. */
export const may = (scope: string): boolean =>
  session.value.name === 'signed-in' && session.value.session.scopes.includes(scope)
