// The code of a one-time link: a token of ours that says what session it is worth. Whether it was
// spent before is not written in it.

import * as z from 'zod'
import { Problem } from '../shared/problem.ts'
import type { Tokens } from '../shared/tokens.ts'

interface SignInCode {
  /** By which it is remembered as spent. */
  id: string
  /** Of the code itself, in ms. */
  expiresAt: number
  /** What the session may do, and where. */
  scope: string
  repos: string[]
  /** How long the session lasts. */
  sessionMs: number
}

const DAY_MS = 24 * 60 * 60 * 1_000
/** Long enough to be printed in the evening and opened in the morning. */
const CODE_MS = DAY_MS
const MOST_SESSION_MS = 30 * DAY_MS

const claims = z.object({
  jti: z.string().min(1).max(64),
  exp: z.number(),
  scope: z.string(),
  repos: z.array(z.string()).min(1),
  session_s: z.int().positive(),
})

/** `now` in ms. */
export function issueCode(
  tokens: Tokens,
  { scope, repos }: { scope: string; repos: string[] },
  now: number,
): Promise<string> {
  const session_s = MOST_SESSION_MS / 1_000
  const jti = crypto.randomUUID()
  return tokens.sign({ jti, scope, repos, session_s }, 'sign-in', now + CODE_MS)
}

/** Throws a Problem whose sentence says what to do. */
export async function readCode(tokens: Tokens, code: string): Promise<SignInCode> {
  const payload = await tokens.verify(code, 'sign-in').catch((error: unknown) => {
    throw error instanceof Problem && error.reason === 'unauthorized' ? notValid() : error
  })
  const read = claims.safeParse(payload)
  if (!read.success) throw notValid()
  const { jti: id, exp, scope, repos, session_s } = read.data
  const sessionMs = Math.min(session_s * 1_000, MOST_SESSION_MS)
  return { id, expiresAt: exp * 1_000, scope, repos, sessionMs }
}

const notValid = (): Problem =>
  new Problem('unauthorized', `The link has expired or is not of this edge. ${ANOTHER}`)

export const codeSpent = (): Problem =>
  new Problem('code_spent', `The link was used before, and works once. ${ANOTHER}`)

const ANOTHER = 'Where Signalbox runs, npx signalbox sign-in prints another.'
