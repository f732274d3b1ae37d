// The OAuth2 client credentials grant of redirect and FIB. Tokens are random and kept in memory.
// So a restarted simulator refuses old tokens, as a gateway does after a key rotation.

import type { Context } from 'hono'

export interface Client {
  clientId: string
  clientSecret: string
  /** The allowed scopes; empty: the gateway has no scopes. */
  scopes: readonly string[]
  lifetimeMs: number
}

export class AccessTokens {
  readonly #client: Client
  readonly #newId: () => string
  readonly #tokens = new Map<string, { scope: string[]; expiresAt: number }>()

  constructor(client: Client, newId: () => string) {
    this.#client = client
    this.#newId = newId
  }

  /**
   * Answers a request for a token. The credentials are in the form or in the Authorization header.
   * `more`: fields that only this gateway has.
   */
  async grant(c: Context, now: number, more: (scope: string) => object): Promise<Response> {
    const { clientId, clientSecret, scopes, lifetimeMs } = this.#client
    const form = new URLSearchParams(await c.req.text())
    const basic = c.req.header('authorization')
    const [id, secret] = basic
      ? fromBasic(basic)
      : [form.get('client_id'), form.get('client_secret')]
    if (id !== clientId || secret !== clientSecret) return c.json({ error: 'invalid_client' }, 401)
    if (form.get('grant_type') !== 'client_credentials') {
      return c.json({ error: 'unsupported_grant_type' }, 400)
    }
    const scope = (form.get('scope') ?? '').split(/\s+/).filter(Boolean)
    if (scopes.length > 0 && scope.some((one) => !scopes.includes(one))) {
      return c.json({ error: 'invalid_scope' }, 400)
    }
    const token = this.#newId()
    this.#tokens.set(token, { scope, expiresAt: now + lifetimeMs })
    return c.json({
      access_token: token,
      token_type: 'Bearer',
      expires_in: lifetimeMs / 1_000,
      ...more(scope.join(' ')),
    })
  }

  /** The scopes of the token of a request; undefined without a valid token. */
  scopesOf(c: Context, now: number): readonly string[] | undefined {
    const [, token = ''] = /^Bearer (\S+)$/i.exec(c.req.header('authorization') ?? '') ?? []
    const known = this.#tokens.get(token)
    if (!known) return undefined
    if (now < known.expiresAt) return known.scope
    this.#tokens.delete(token)
    return undefined
  }

  /** Revokes all tokens. */
  revokeAll(): void {
    this.#tokens.clear()
  }
}

function fromBasic(header: string): [string, string] {
  const [, encoded = ''] = /^Basic (\S+)$/i.exec(header) ?? []
  const [id = '', secret = ''] = Buffer.from(encoded, 'base64').toString().split(':')
  return [id, secret]
}
