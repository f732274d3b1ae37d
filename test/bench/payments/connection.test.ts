import { describe, expect, it } from 'vitest'
import { replyIn } from '../../../bench/payments/connection.ts'

const whole = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-A: b\r\n\r\nok'

describe('replyIn', () => {
  it('reads status and body, whatever the case of the header', () => {
    expect(replyIn(whole)).toEqual({ status: 200, body: 'ok' })
    expect(replyIn(whole.toLowerCase())).toEqual({ status: 200, body: 'ok' })
  })

  it('waits for every byte of it', () => {
    for (let length = 0; length < whole.length; length++) {
      expect(replyIn(whole.slice(0, length))).toBeUndefined()
    }
  })

  it('does not guess where an answer ends that does not say so', () => {
    expect(() => replyIn('HTTP/1.1 200 OK\r\n\r\nok')).toThrow('without a length')
  })
})
