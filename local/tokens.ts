// What is signed with the secret of a data folder, or with what is derived from it: tokens and the
// link that signs a browser in.

import { createPrivateKey, createPublicKey, hkdfSync } from 'node:crypto'
import { SignJWT } from 'jose'
import { issueCode } from '../worker/session/code.ts'
import { readAuth } from '../worker/shared/auth-config.ts'
import { hostClock } from '../worker/shared/clock.ts'
import { createTokens, type Tokens } from '../worker/shared/tokens.ts'

export interface LocalTokens {
  /** Reads the board. Absent: there is none. */
  board?: string
  /** Publishes it. Absent: there is none. */
  sidecar?: string
  /** Charges, refunds, and reads both back. */
  payments: string
}

const SCOPES = {
  board: 'board:read',
  sidecar: 'board:read board:write',
  payments: 'payments:read payments:write',
} satisfies Record<keyof LocalTokens, string>

/** Long enough to be forgotten in a terminal; every start makes new ones. */
const LIFETIME_MS = 30 * 24 * 60 * 60 * 1_000
/** Tokens for one repository. `now` in ms. */
export async function mintTokens(
  secret: string,
  repo: string,
  now: number,
): Promise<Required<LocalTokens>> {
  const mint = (name: keyof LocalTokens) =>
    signer(secret).sign(
      { sub: `local:${name}`, scope: SCOPES[name], repos: [repo] },
      'api',
      now + LIFETIME_MS,
    )
  const [board, sidecar, payments] = await Promise.all([
    mint('board'),
    mint('sidecar'),
    mint('payments'),
  ])
  return { board, sidecar, payments }
}

const signer = (secret: string): Tokens =>
  createTokens(readAuth({ AUTH_SECRETS: secret }), { clock: hostClock, fetch })

export interface DatabaseAccess {
  /** Ed25519, as libSQL's server takes it: the bytes in URL-safe base64. */
  publicKey: string
  token: string
}

/** RFC 8410: how PKCS #8 begins for an Ed25519 key, which is 32 bytes that follow. */
const ED25519_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex')

/**
 * The key of a data folder's libSQL server, and a token for all that may write to it. Both are the
 * same at every start, as the secret is. The token does not expire, or an edge that has run for a
 * month would lose its database.
 */
export async function databaseAccess(secret: string): Promise<DatabaseAccess> {
  const seed = Buffer.from(hkdfSync('sha256', secret, '', 'signalbox local database', 32))
  const der = Buffer.concat([ED25519_PREFIX, seed])
  const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
  const { x: publicKey = '' } = createPublicKey(key).export({ format: 'jwk' })
  const token = await new SignJWT({ a: 'rw' })
    .setProtectedHeader({ alg: 'EdDSA', typ: 'JWT' })
    .setSubject('local:database')
    .sign(key)
  return { publicKey, token }
}

/** Of a running system, as its local.json says it. */
interface SignInPlace {
  url: string
  publicUrl?: string
  path: string
  tokens: LocalTokens
}

/**
 * The link that signs a browser in to a running system, once. The code is in the fragment, so that
 * no server's log and no Referer ever holds it, and a preview of the link does not spend it.
 * `secret`: of the data folder; `now` in ms.
 */
export async function signInLink(
  secret: string,
  { url, publicUrl = url, path, tokens }: SignInPlace,
  now: number,
): Promise<string> {
  // Without a board, the page shows payments alone.
  const { board, payments } = SCOPES
  const scope = tokens.board === undefined ? payments : `${board} ${payments}`
  const code = await issueCode(signer(secret), { scope, repos: [path] }, now)
  return `${publicUrl}/#/sign-in/${code}`
}
