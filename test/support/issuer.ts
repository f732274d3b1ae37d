// An external issuer of tokens, with its own keys and a JWKS endpoint.

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, type JWK, type JWTPayload, SignJWT } from 'jose'
import { onTestFinished } from 'vitest'

export interface Issuer {
  jwksUrl: string
  /** Its `iss`. */
  name: string
  /** The published public key. */
  jwk: JWK
  /** `iss`, `aud` and `exp` are valid unless given; `kid` is that of the key. */
  sign(claims: JWTPayload, kid?: string): Promise<string>
}

/** The variables with which an edge trusts this issuer. */
export const issuerEnv = ({ jwksUrl, name }: Issuer) => ({
  AUTH_JWKS_URL: jwksUrl,
  AUTH_ISSUER: name,
})

/** Runs until the test ends. */
export async function startIssuer(): Promise<Issuer> {
  const { publicKey, privateKey } = await generateKeyPair('ES256')
  const jwk = { ...(await exportJWK(publicKey)), kid: 'k1', alg: 'ES256' }
  const server = createServer((_, response) => response.end(JSON.stringify({ keys: [jwk] })))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.close()
  })
  const name = 'https://issuer.test/'
  const { port } = server.address() as AddressInfo
  return {
    jwksUrl: `http://127.0.0.1:${port}/keys`,
    name,
    jwk,
    sign: (claims, kid = 'k1') =>
      new SignJWT({
        iss: name,
        aud: 'signalbox',
        exp: Math.floor(Date.now() / 1_000) + 3_600,
        ...claims,
      })
        .setProtectedHeader({ alg: 'ES256', kid })
        .sign(privateKey),
  }
}
