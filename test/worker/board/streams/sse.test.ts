import { createParser, type EventSourceMessage } from 'eventsource-parser'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  comment,
  formatEventId,
  frameId,
  idBlock,
  idOnly,
  messageFrame,
  parseEventId,
  retry,
} from '../../../../worker/board/streams/sse.ts'

const CHANGED = { type: 'tasks-changed' } as const
const bytes = (text: string) => new TextEncoder().encode(text)

describe('framing', () => {
  it('makes each comment its own block', () => {
    expect(comment('ping')).toBe(': ping\n\n')
  })

  it.each(['a\nb', 'a\rb', 'a\r\nb', 'a\0b'])('refuses the id %j', (id) => {
    expect(() => idBlock(id)).toThrow(TypeError)
  })

  it('writes a message as one data line, whatever its id holds', () => {
    const message = { type: 'task-changed', id: 'a\nb\u2028\r' } as const
    expect(messageFrame({ epoch: 'e', seq: 7 }, message)).toBe(
      'id: e-7\ndata: {"type":"task-changed","id":"a\\nb\u2028\\r"}\n\n',
    )
    expect(messageFrame(undefined, CHANGED)).toBe('data: {"type":"tasks-changed"}\n\n')
  })

  it('writes whole milliseconds to retry', () => {
    expect(retry(1234.5)).toBe('retry: 1235\n\n')
  })

  it('finds the id of an encoded frame, and none where there is none', () => {
    expect(frameId(bytes(idOnly({ epoch: 'e', seq: 3 })))).toBe('e-3')
    expect(frameId(bytes(messageFrame({ epoch: 'e', seq: 4 }, CHANGED)))).toBe('e-4')
    expect(frameId(bytes(comment('ping')))).toBeUndefined()
    expect(frameId(bytes(messageFrame(undefined, CHANGED)))).toBeUndefined()
    for (const text of ['is: e-3\n', 'id: e-3']) expect(frameId(bytes(text))).toBeUndefined()
  })

  it('is read back by a parser that nobody here wrote', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (id) => {
        const message = { type: 'task-changed', id } as const
        const events: EventSourceMessage[] = []
        const parser = createParser({ onEvent: (event) => events.push(event) })
        parser.feed(messageFrame({ epoch: 'e', seq: 1 }, message))
        const data = JSON.stringify(message)
        expect(events).toEqual([expect.objectContaining({ id: 'e-1', data })])
      }),
    )
  })
})

describe('event ids', () => {
  it('come back as they went out', () => {
    const id = fc.record({ epoch: fc.stringMatching(/^[0-9a-z]{1,32}$/), seq: fc.maxSafeNat() })
    fc.assert(
      fc.property(id, (each) => {
        expect(parseEventId(formatEventId(each))).toEqual(each)
      }),
    )
  })

  it.each(['', '-', 'a-', 'a--1', 'a-1.5', 'a-01', 'a-99999999999999999', 'a-1\n', 'A a-1'])(
    'do not take %j for one',
    (text) => {
      expect(parseEventId(text)).toBeUndefined()
    },
  )
})
