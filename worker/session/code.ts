// The code of a one-time sign-in link: a signed token that says what its session may do. Whether a
// code was already used is stored elsewhere, in the repository object.

import * as z from 'zod'
import { Problem } from '../shared/problem.ts'
import type { Tokens } from '../shared/tokens.ts'

interface SignInCode {
  /** The key under which a used code is stored. */
  id: string
  /** When the code itself expires, in ms. */
  expiresAt: number
  /** Scope and repositories of the session. */
  scope: string
  repos: string[]
  /** Who holds the link, if it was made for somebody. */
  subject?: string | undefined
}

/** Long enough to be printed in the evening and opened in the morning. */
const CODE_LIFETIME_MS = 24 * 60 * 60 * 1_000

const claims = z.object({
  jti: z.string().min(1).max(64),
  exp: z.number(),
  scope: z.string(),
  repos: z.array(z.string()).min(1),
  sub: z.string().min(1).optional(),
})

/** Codes with the same id open one session together. */
export type OneTime = Pick<SignInCode, 'id' | 'expiresAt'>

/** `now` in ms. `once`: by default a new one, for a day. */
export function issueCode(
  tokens: Tokens,
  { scope, repos, subject }: Pick<SignInCode, 'scope' | 'repos' | 'subject'>,
  now: number,
  once: OneTime = { id: crypto.randomUUID(), expiresAt: now + CODE_LIFETIME_MS },
): Promise<string> {
  return tokens.sign(
    { jti: once.id, scope, repos, ...(subject !== undefined && { sub: subject }) },
    'sign-in',
    once.expiresAt,
  )
}

/** Throws a Problem whose sentence says how to get a new link. */
export async function readCode(tokens: Tokens, code: string): Promise<SignInCode> {
  const payload = await tokens.verify(code, 'sign-in').catch((error: unknown) => {
    throw error instanceof Problem && error.reason === 'unauthorized' ? notValid() : error
  })
  const read = claims.safeParse(payload)
  if (!read.success) throw notValid()
  const { jti: id, exp, scope, repos, sub: subject } = read.data
  return { id, expiresAt: exp * 1_000, scope, repos, subject }
}

const notValid = (): Problem =>
  new Problem('unauthorized', `The link has expired or is for another server. ${NEW_LINK}`)

export const codeSpent = (): Problem =>
  new Problem('code_spent', `The link works only once, and was already used. ${NEW_LINK}`)

const NEW_LINK =
  'On the machine where Signalbox runs, signalbox sign-in prints a new one, with --phone for a ' +
  'phone.'
