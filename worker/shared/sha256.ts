// SHA-256 of a text or of a request, alone and with a secret (HMAC), and bytes as hex.

/** 64 hex digits. */
export async function sha256Hex(text: string): Promise<string> {
  return toHex(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)))
}

const toHex = (buffer: ArrayBuffer): string =>
  Array.from(new Uint8Array(buffer), (byte) => byte.toString(16).padStart(2, '0')).join('')

const fromHex = (hex: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16))

/** Proofs in hex, of 64 digits. */
export interface Hmac {
  sign(bytes: Uint8Array): Promise<string>
  /** In time that does not tell how much of the proof is right. */
  verify(proof: string, bytes: Uint8Array): Promise<boolean>
}

/** The key is imported once, at the first call. */
export function hmac(secret: string): Hmac {
  let imported: Awaited<ReturnType<typeof crypto.subtle.importKey>> | undefined
  const key = async () => {
    const algorithm = { name: 'HMAC', hash: 'SHA-256' }
    const bytes = new TextEncoder().encode(secret)
    imported ??= await crypto.subtle.importKey('raw', bytes, algorithm, false, ['sign', 'verify'])
    return imported
  }
  return {
    sign: async (bytes) =>
      toHex(await crypto.subtle.sign('HMAC', await key(), bytes as Uint8Array<ArrayBuffer>)),
    verify: async (proof, bytes) =>
      await crypto.subtle.verify(
        'HMAC',
        await key(),
        fromHex(proof),
        bytes as Uint8Array<ArrayBuffer>,
      ),
  }
}

/** Two requests that differ only in the order of their fields have one hash. */
export async function requestHash(request: object): Promise<string> {
  return await sha256Hex(canonicalJson(request))
}

/** As JSON, with the fields of each object in the order of their names. */
export const canonicalJson = (value: unknown): string => JSON.stringify(sorted(value))

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).filter(([, inner]) => inner !== undefined)
  entries.sort(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(entries.map(([name, inner]) => [name, sorted(inner)]))
}
