import jsQr from 'jsqr'
import { PNG } from 'pngjs'
import { expect, it } from 'vitest'
import { qrCode } from '../../simulator/qr-code.ts'

it.each([
  'http://127.0.0.1:46213/pay/0b1f9c5e-6f0e-4a9a-9f6e-0a4c5b1d2e3f',
  `https://shop.example/${'é'.repeat(100)}`,
])('the QR code of %s is read by a camera', (text) => {
  const [, encoded = ''] = /^data:image\/png;base64,(.+)$/.exec(qrCode(text)) ?? []
  const { data, width, height } = PNG.sync.read(Buffer.from(encoded, 'base64'))
  expect([width, width]).toEqual([height, Math.max(width, 200)])
  expect(jsQr(new Uint8ClampedArray(data), width, height)?.data).toBe(text)
})
