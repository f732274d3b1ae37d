// What is signed with the secret of a data folder, or with what is derived from it: tokens and the
// link that signs a browser in.

import {
  createHmac,
  createPrivateKey,
  createPublicKey,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto'
import { decodeJwt, SignJWT } from 'jose'
import { issueCode, type OneTime } from '../../worker/session/code.ts'
import type { Scope } from '../../worker/shared/access.ts'
import { readAuth } from '../../worker/shared/auth-config.ts'
import { hostClock } from '../../worker/shared/clock.ts'
import { createTokens, type Tokens } from '../../worker/shared/tokens.ts'
import type { LocalTokens } from '../data/local-json.ts'
import { derived } from '../data/secret.ts'

const READS = 'board:read'

/** What a person has who leads agents, and no agent: to end their claims, and to set limits. */
export const OF_LEAD = ['board:work', 'board:lead'] as const satisfies Scope[]

const SCOPES = {
  board: 'board:read board:lead',
  sidecar: 'board:read board:write',
  agent: 'board:read board:work',
  payments: 'payments:read payments:write',
} satisfies Record<keyof LocalTokens, string>

/** Long enough to be forgotten in a terminal; every start makes new ones. */
const LIFETIME_MS = 30 * 24 * 60 * 60 * 1_000

/**
 * What the tokens of a local system cover: the first board, which is meant where none is named, and
 * every board whose name begins with one of `names`, those that appear later, too.
 */
export const reposOf = (first: string, names: readonly string[]): string[] => [
  first,
  ...names.flatMap((name) => [`${name}/*`, `${name}#*`]),
]

interface Minting {
  audience?: string
  lifetimeMs?: number
  /** Others than those of a local system. */
  scopes?: Partial<Record<keyof LocalTokens, string>>
}

/**
 * Tokens for these repositories. `now` in ms; `audience`: of an edge that has its own. `lifetimeMs`
 * is 30 days unless given.
 */
export async function mintTokens(
  secret: string,
  repos: readonly string[],
  now: number,
  { audience, lifetimeMs = LIFETIME_MS, scopes = {} }: Minting = {},
): Promise<Required<LocalTokens>> {
  const mint = (name: keyof LocalTokens) =>
    signer(secret, audience).sign(
      { sub: `local:${name}`, scope: scopes[name] ?? SCOPES[name], repos },
      'api',
      now + lifetimeMs,
    )
  const [board, sidecar, agent, payments] = await Promise.all([
    mint('board'),
    mint('sidecar'),
    mint('agent'),
    mint('payments'),
  ])
  return { board, sidecar, agent, payments }
}

const signer = (AUTH_SECRETS: string, AUTH_AUDIENCE?: string): Tokens =>
  createTokens(readAuth({ AUTH_SECRETS, AUTH_AUDIENCE }), { clock: hostClock, fetch })

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
  const der = Buffer.concat([ED25519_PREFIX, derived(secret, 'database')])
  const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
  const { x: publicKey = '' } = createPublicKey(key).export({ format: 'jwk' })
  const token = await new SignJWT({ a: 'rw' })
    .setProtectedHeader({ alg: 'EdDSA', typ: 'JWT' })
    .setSubject('local:database')
    .sign(key)
  return { publicKey, token }
}

/** Where a running system signs in, from its local.json. */
interface SignInTarget {
  url: string
  publicUrl?: string
  tokens: LocalTokens
  /** The edge's, where it has its own. */
  audience?: string
  /** What a person who signs in may do beside. */
  also?: readonly Scope[]
  /** Who gets the link: the audit trail has this name. */
  subject?: string | undefined
}

/**
 * The link that signs a browser in to a running system, once. The code is in the fragment, so that
 * no server's log and no Referer ever holds it, and a preview of the link does not spend it.
 * `secret`: of the data folder; `now` in ms; `once`: of a phone's link.
 */
export async function signInLink(
  secret: string,
  { url, publicUrl = url, tokens, audience, also = [], subject }: SignInTarget,
  now: number,
  once?: OneTime,
): Promise<string> {
  // Without a board, the page shows payments alone.
  const { payments } = SCOPES
  const scope = tokens.board === undefined ? payments : [READS, ...also, payments].join(' ')
  // The boards that appear later, too.
  const { repos } = decodeJwt<{ repos: string[] }>(tokens.payments)
  const code = await issueCode(signer(secret, audience), { scope, repos, subject }, now, once)
  return `${publicUrl}/#/sign-in/${code}`
}

/**
 * The link that a start prints. On loopback it is for the person whose machine this is, who may end
 * what their agents hold; what is shared may be opened by others.
 */
export const startLink = (
  secret: string,
  target: SignInTarget,
  { isShared, now }: { isShared: boolean; now: number },
): Promise<string> => signInLink(secret, { ...target, also: isShared ? [] : OF_LEAD }, now)

/** A terminal shows the code to everybody who can see it. */
const PHONE_MS = 10 * 60 * 1_000
const [ID_BYTES, TIME_BYTES, MAC_BYTES] = [12, 4, 12]

/**
 * The link for one phone, once, within ten minutes: an id, its end and a MAC of both in place of a
 * signed token, whose picture would be larger than a terminal. `secret`: of the data folder.
 */
export function phoneLink(secret: string, url: string, now: number): string {
  const end = Buffer.alloc(TIME_BYTES)
  end.writeUInt32BE(Math.floor((now + PHONE_MS) / 1_000))
  const id = Buffer.concat([randomBytes(ID_BYTES), end])
  return `${url}/sign-in/${Buffer.concat([id, macOf(secret, id)]).toString('base64url')}`
}

/** What the code of such a link opens. Undefined: it has expired, or is not ours. */
export function readPhoneCode(secret: string, code: string, now: number): OneTime | undefined {
  const bytes = Buffer.from(code, 'base64url')
  if (bytes.length !== ID_BYTES + TIME_BYTES + MAC_BYTES) return undefined
  const id = bytes.subarray(0, -MAC_BYTES)
  const expiresAt = id.readUInt32BE(ID_BYTES) * 1_000
  const isOurs = timingSafeEqual(bytes.subarray(-MAC_BYTES), macOf(secret, id))
  return isOurs && now < expiresAt ? { id: id.toString('base64url'), expiresAt } : undefined
}

const macOf = (secret: string, id: Uint8Array): Buffer =>
  createHmac('sha256', derived(secret, 'phone link')).update(id).digest().subarray(0, MAC_BYTES)
