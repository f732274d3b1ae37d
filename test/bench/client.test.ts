import { describe, expect, it } from 'vitest'
import { dataOf } from '../../bench/client.ts'

describe('dataOf', () => {
  it('reads the message of a block, with an id before it or without', () => {
    const message = { type: 'task-changed', id: 'A-1' }
    expect(dataOf('id: e-4\ndata: {"type":"task-changed","id":"A-1"}')).toEqual(message)
    expect(dataOf('data:{"type":"task-changed","id":"A-1"}')).toEqual(message)
  })

  it('takes no comment, no retry and no lone id for a message', () => {
    for (const block of [': ping', ': connected\nretry: 1000', 'retry: 1000', 'id: e-4', '']) {
      expect(dataOf(block)).toBeUndefined()
    }
  })
})
