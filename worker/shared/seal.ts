// Encrypts what is kept, by keys derived from the edge's secrets: a copy of its storage has none of
// it in clear. For short texts.

export interface Seal {
  /**
   * Encrypts with a key of each secret, of the first one first. The same text gives the same, so
   * that what was kept is known again, also while a secret is replaced. Empty: there is none.
   */
  close(text: string): Promise<string[]>
  /** Undefined: none of the secrets has closed it. */
  open(sealed: string): Promise<string | undefined>
}

const IV_BYTES = 12
const encoder = new TextEncoder()

/** `purpose`: what is closed for one is no other's. */
export function createSeal(secrets: readonly string[], purpose: string): Seal {
  return {
    async close(text) {
      const plain = encoder.encode(text)
      const closed = secrets.map(async (secret) => {
        const { encrypts, names } = await keysOf(secret, purpose)
        // Only an equal text has this one again.
        const mac = new Uint8Array(await crypto.subtle.sign('HMAC', names, plain))
        const iv = mac.subarray(0, IV_BYTES)
        const ciphered = await crypto.subtle.encrypt({ name: 'AES-GCM', iv }, encrypts, plain)
        return toBase64(new Uint8Array([...iv, ...new Uint8Array(ciphered)]))
      })
      return await Promise.all(closed)
    },
    async open(sealed) {
      const bytes = Uint8Array.from(atob(sealed), (char) => char.charCodeAt(0))
      const iv = bytes.subarray(0, IV_BYTES)
      for (const secret of secrets) {
        const { encrypts } = await keysOf(secret, purpose)
        const plain = await crypto.subtle
          .decrypt({ name: 'AES-GCM', iv }, encrypts, bytes.subarray(IV_BYTES))
          // It was closed by another one.
          .catch(() => undefined)
        if (plain) return new TextDecoder().decode(plain)
      }
      return undefined
    },
  }
}

async function keysOf(secret: string, purpose: string) {
  const from = await crypto.subtle.importKey('raw', encoder.encode(secret), 'HKDF', false, [
    'deriveBits',
  ])
  const info = encoder.encode(`signalbox ${purpose}`)
  const how = { name: 'HKDF', hash: 'SHA-256', salt: new Uint8Array(), info }
  const bits = await crypto.subtle.deriveBits(how, from, 512)
  const [encrypts, names] = await Promise.all([
    crypto.subtle.importKey('raw', bits.slice(0, 32), 'AES-GCM', false, ['encrypt', 'decrypt']),
    crypto.subtle.importKey('raw', bits.slice(32), { name: 'HMAC', hash: 'SHA-256' }, false, [
      'sign',
    ]),
  ])
  return { encrypts, names }
}

const toBase64 = (bytes: Uint8Array): string => btoa(String.fromCharCode(...bytes))
