// The OAuth2 client credentials grant of both gateways: tokens are drawn, not signed, and are kept
// in memory, so that a restarted simulator refuses the old ones as a gateway after a rotation does.

export interface Client {
  clientId: string
  clientSecret: string
  /** All that it may ask for; empty: the gateway knows no scopes. */
  scopes: readonly string[]
  lifetimeMs: number
}

export type Grant =
  | { ok: true; token: string; scope: string; lifetimeMs: number }
  | { ok: false; error: 'invalid_client' | 'unsupported_grant_type' | 'invalid_scope' }

export class AccessTokens {
  readonly #client: Client
  readonly #newId: () => string
  readonly #tokens = new Map<string, { scope: string[]; endsAt: number }>()

  constructor(client: Client, newId: () => string) {
    this.#client = client
    this.#newId = newId
  }

  /** `basic`: the header, which may name the client instead of the form. */
  grant(form: URLSearchParams, basic: string | undefined, now: number): Grant {
    const { clientId, clientSecret, scopes, lifetimeMs } = this.#client
    const [id, secret] = basic
      ? fromBasic(basic)
      : [form.get('client_id'), form.get('client_secret')]
    if (id !== clientId || secret !== clientSecret) return { ok: false, error: 'invalid_client' }
    if (form.get('grant_type') !== 'client_credentials') {
      return { ok: false, error: 'unsupported_grant_type' }
    }
    const asked = (form.get('scope') ?? '').split(/\s+/).filter(Boolean)
    if (scopes.length > 0 && asked.some((one) => !scopes.includes(one))) {
      return { ok: false, error: 'invalid_scope' }
    }
    const token = this.#newId()
    this.#tokens.set(token, { scope: asked, endsAt: now + lifetimeMs })
    return { ok: true, token, scope: asked.join(' '), lifetimeMs }
  }

  /** The scope of a request's token; undefined when it has none that is good. */
  scopeOf(authorization: string | undefined, now: number): readonly string[] | undefined {
    const [, token = ''] = /^Bearer (\S+)$/i.exec(authorization ?? '') ?? []
    const known = this.#tokens.get(token)
    if (!known) return undefined
    if (now < known.endsAt) return known.scope
    this.#tokens.delete(token)
    return undefined
  }

  /** From now on every token is refused, and a new one must be asked for. */
  forget(): void {
    this.#tokens.clear()
  }
}

function fromBasic(header: string): [string, string] {
  const [, encoded = ''] = /^Basic (\S+)$/i.exec(header) ?? []
  const [id = '', secret = ''] = Buffer.from(encoded, 'base64').toString().split(':')
  return [id, secret]
}
