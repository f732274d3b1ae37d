// Who is signed in. The session itself is in a cookie that no script can read.

import { signal } from '@preact/signals'
import type { SignedIn } from '../../libraries/api/types.ts'
import { ApiProblem, request } from './http.ts'

export type SessionState =
  | { name: 'unknown' }
  | { name: 'signed-in'; session: SignedIn }
  /**
   * `problem`: why, unless the user simply has not signed in yet. `keepsToken`: the edge could only
   * delete the cookie, and the token in it stays valid.
   */
  | { name: 'signed-out'; problem?: ApiProblem; keepsToken?: boolean }

export const session = signal<SessionState>({ name: 'unknown' })

/** What the tabs of this origin, which share the cookie, tell each other. */
type Turn = 'signed-in' | 'signed-out'

export type Credential = { token: string } | { code: string }

/** What was pasted: a token, or a whole sign-in link. */
export function credentialIn(text: string): Credential {
  const [, code] = /#\/sign-in\/([\w.-]+)/.exec(text) ?? []
  return code === undefined ? { token: text.trim() } : { code }
}

/** Reads the session once, when the page opens. */
export async function findSession(): Promise<void> {
  await apply(request<SignedIn>('/api/session'), (problem) => problem.code === 'unauthorized')
}

/** A problem is in the state, and the user signed out. */
export async function signIn(by: Credential): Promise<void> {
  await apply(postSession(by), () => false)
}

/** For a session that goes on if this fails: the views stay, with all that was typed. */
export async function signInAgain(by: Credential): Promise<ApiProblem | undefined> {
  try {
    session.value = { name: 'signed-in', session: await postSession(by) }
    return undefined
  } catch (problem) {
    if (problem instanceof ApiProblem) return problem
    throw problem
  }
}

async function postSession(body: Credential): Promise<SignedIn> {
  const signedIn = await request<SignedIn>('/api/session', { method: 'POST', body })
  tabs?.postMessage('signed-in' satisfies Turn)
  return signedIn
}

/** Ends the session, which only the edge can do. Throws ApiProblem if it does not answer. */
export async function signOut(): Promise<void> {
  const before = session.peek()
  try {
    await request('/api/session', { method: 'DELETE' })
  } catch (problem) {
    // With an expired token, the user is signed out already.
    if (!(problem instanceof ApiProblem) || problem.code !== 'unauthorized') throw problem
  }
  const keepsToken = before.name === 'signed-in' && !before.session.canBeEnded
  session.value = { name: 'signed-out', keepsToken }
  tabs?.postMessage('signed-out' satisfies Turn)
}

/** Only one: what this tab posts must not come back to it. */
let tabs: BroadcastChannel | undefined

/**
 * Without this, other tabs would still show the board for a minute, and warn of the end of a
 * session that is replaced.
 */
export function followOtherTabs(): void {
  tabs = new BroadcastChannel('signalbox.session')
  tabs.onmessage = ({ data }: MessageEvent<Turn>) => {
    if (data === 'signed-out') session.value = { name: 'signed-out' }
    else void readAgain()
  }
}

async function readAgain(): Promise<void> {
  try {
    session.value = { name: 'signed-in', session: await request<SignedIn>('/api/session') }
  } catch (problem) {
    // The views stay, with all that was typed. Their own requests will show what is wrong.
    if (!(problem instanceof ApiProblem)) throw problem
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
