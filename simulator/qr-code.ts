// A QR code as the bank sends it: a PNG, as a data URL.

import { crc32, deflateSync } from 'node:zlib'
import { encode } from 'uqr'

/** With one bit for a pixel, a module's row is one byte. */
const MODULE_PIXELS = 8
/** The white edge that the standard asks for, in modules: without it some cameras see no code. */
const QUIET_ZONE = 4
const SIGNATURE = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1')
/** One bit, grey; no filter and no interlacing. */
const FORMAT = [1, 0, 0, 0, 0]

export function qrCode(text: string): string {
  const { data, size } = encode(text, { border: QUIET_ZONE })
  const header = Buffer.alloc(13)
  header.writeUInt32BE(size * MODULE_PIXELS, 0)
  header.writeUInt32BE(size * MODULE_PIXELS, 4)
  header.set(FORMAT, 8)
  // Each row begins with its filter.
  const rows = data.map((cells) => Buffer.from([0, ...cells.map((isDark) => (isDark ? 0 : 0xff))]))
  const pixels = Buffer.concat(rows.flatMap((row) => Array<Buffer>(MODULE_PIXELS).fill(row)))
  const png = Buffer.concat([
    SIGNATURE,
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(pixels)),
    chunk('IEND', Buffer.alloc(0)),
  ])
  return `data:image/png;base64,${png.toString('base64')}`
}

function chunk(type: string, content: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), content])
  const made = Buffer.alloc(body.length + 8)
  made.writeUInt32BE(content.length, 0)
  made.set(body, 4)
  made.writeUInt32BE(crc32(body), body.length + 4)
  return made
}
