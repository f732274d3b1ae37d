// Cuts long texts before they are published. No I/O.

import { TEXT_BYTES } from '../../worker/board/wire.ts'

const encoder = new TextEncoder()

/**
 * Text of at most TEXT_BYTES of UTF-8. A longer one is cut, with a last line that says so. `clean`
 * changes what is kept, and may make it longer again.
 */
export function limitText(text: string, clean = (kept: string): string => kept): string {
  const bytes = Buffer.byteLength(text)
  const cleaned = clean(beginningOf(text))
  const kept = beginningOf(cleaned)
  if (bytes <= TEXT_BYTES && kept === cleaned) return kept
  return `${kept}\n[signalbox: cut at ${sizeText(TEXT_BYTES)} of ${sizeText(bytes)}]`
}

/** Its first TEXT_BYTES. encodeInto stops at a character's end, so none is cut in half. */
function beginningOf(text: string): string {
  if (Buffer.byteLength(text) <= TEXT_BYTES) return text
  return text.slice(0, encoder.encodeInto(text, new Uint8Array(TEXT_BYTES)).read)
}

/** Whether a text was cut: what limitText leaves of a longer one is longer than any that fits. */
export const isCut = (text: string | undefined): boolean =>
  text !== undefined && Buffer.byteLength(text) > TEXT_BYTES

/** Bytes for people: `512 KiB`, `20.0 MiB`. */
export function sizeText(bytes: number): string {
  if (bytes < 1024) return `${bytes} bytes`
  if (bytes < 1 << 20) return `${Math.round(bytes / 1024)} KiB`
  return `${(bytes / (1 << 20)).toFixed(1)} MiB`
}
