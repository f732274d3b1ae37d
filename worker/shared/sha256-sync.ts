// SHA-256 of a text, at once: the platform's own is a promise, and a transaction of an embedded
// database must not await. It is FIPS 180-4; nothing secret is hashed with it.

const primes = (count: number): number[] => {
  const found: number[] = []
  for (let n = 2; found.length < count; n++) if (found.every((prime) => n % prime)) found.push(n)
  return found
}
/** The first 32 bits of what stands behind the point. */
const fraction = (value: number): number => ((value - Math.floor(value)) * 2 ** 32) >>> 0

const START = primes(8).map((prime) => fraction(Math.sqrt(prime)))
const ROUNDS = Uint32Array.from(primes(64), (prime) => fraction(Math.cbrt(prime)))
const BLOCK = 64
/** The last eight bytes of the last block have the length. */
const LENGTH = 8

const turn = (word: number, by: number): number => (word >>> by) | (word << (32 - by))

/** 64 hex digits. */
export function sha256Sync(text: string): string {
  const bytes = padded(new TextEncoder().encode(text))
  const state = Uint32Array.from(START)
  const words = new Uint32Array(BLOCK)
  const at = (n: number): number => words[n] ?? 0
  for (let from = 0; from < bytes.byteLength; from += BLOCK) {
    for (let n = 0; n < 16; n++) words[n] = bytes.getUint32(from + 4 * n)
    for (let n = 16; n < BLOCK; n++) {
      const [x, y] = [at(n - 15), at(n - 2)]
      const low = turn(x, 7) ^ turn(x, 18) ^ (x >>> 3)
      const high = turn(y, 17) ^ turn(y, 19) ^ (y >>> 10)
      words[n] = at(n - 16) + low + at(n - 7) + high
    }
    let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = state
    for (let n = 0; n < BLOCK; n++) {
      const one = turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)
      const chosen = (e & f) ^ (~e & g)
      const first = (h + one + chosen + (ROUNDS[n] ?? 0) + at(n)) | 0
      const two = turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)
      const most = (a & b) ^ (a & c) ^ (b & c)
      h = g
      g = f
      f = e
      e = (d + first) | 0
      d = c
      c = b
      b = a
      a = (first + two + most) | 0
    }
    for (const [n, word] of [a, b, c, d, e, f, g, h].entries()) state[n] = (state[n] ?? 0) + word
  }
  return Array.from(state, (word) => word.toString(16).padStart(8, '0')).join('')
}

function padded(text: Uint8Array): DataView {
  const bytes = new Uint8Array(Math.ceil((text.length + 1 + LENGTH) / BLOCK) * BLOCK)
  bytes.set(text)
  bytes[text.length] = 0x80
  const view = new DataView(bytes.buffer)
  view.setUint32(bytes.length - LENGTH, Math.floor(text.length / 2 ** 29))
  view.setUint32(bytes.length - LENGTH / 2, text.length << 3)
  return view
}
