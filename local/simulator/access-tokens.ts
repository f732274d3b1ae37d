// The OAuth2 client credentials grant of redirect and FIB. Tokens are random and kept in memory.
// So a restarted simulator refuses old tokens, as a gateway does after a key rotation.

export interface Client {
  clientId: string
  clientSecret: string
  /** The allowed scopes; empty: the gateway has no scopes. */
  scopes: readonly string[]
  lifetimeMs: number
}

export type Grant =
  | { ok: true; token: string; scope: string; lifetimeMs: number }
  | { ok: false; error: 'invalid_client' | 'unsupported_grant_type' | 'invalid_scope' }

export class AccessTokens {
  readonly #client: Client
  readonly #newId: () => string
  readonly #tokens = new Map<string, { scope: string[]; expiresAt: number }>()

  constructor(client: Client, newId: () => string) {
    this.#client = client
    this.#newId = newId
  }

  /** `basic`: the Authorization header, which may contain the credentials instead of the form. */
  grant(form: URLSearchParams, basic: string | undefined, now: number): Grant {
    const { clientId, clientSecret, scopes, lifetimeMs } = this.#client
    const [id, secret] = basic
      ? fromBasic(basic)
      : [form.get('client_id'), form.get('client_secret')]
    if (id !== clientId || secret !== clientSecret) return { ok: false, error: 'invalid_client' }
    if (form.get('grant_type') !== 'client_credentials') {
      return { ok: false, error: 'unsupported_grant_type' }
    }
    const requested = (form.get('scope') ?? '').split(/\s+/).filter(Boolean)
    if (scopes.length > 0 && requested.some((one) => !scopes.includes(one))) {
      return { ok: false, error: 'invalid_scope' }
    }
    const token = this.#newId()
    this.#tokens.set(token, { scope: requested, expiresAt: now + lifetimeMs })
    return { ok: true, token, scope: requested.join(' '), lifetimeMs }
  }

  /** The scopes of the token of a request; undefined without a valid token. */
  scopeOf(authorization: string | undefined, now: number): readonly string[] | undefined {
    const [, token = ''] = /^Bearer (\S+)$/i.exec(authorization ?? '') ?? []
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
