// Both stream sources, over the app in this process. Which contract they keep: stream-source.ts.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Block, fetchStreams, SseParser } from '../../../libraries/client/stream-fetch.ts'
import { comment, idOnly, messageFrame, retry } from '../../../worker/board/streams/sse.ts'
import { eventSourcesOver, streamSourceContract } from '../../contract/stream-source.ts'
import { processEdge } from '../../support/in-process-edge.ts'

const edge = processEdge()
streamSourceContract('fetch', fetchStreams, () => edge)
streamSourceContract('EventSource', eventSourcesOver, () => edge)

/** All blocks that these chunks complete. */
function parse(...chunks: string[]): Block[] {
  const parser = new SseParser()
  return chunks.flatMap((chunk) => parser.push(chunk))
}

describe('the parser of server-sent events', () => {
  it('parses what the edge writes, and skips comments', () => {
    const text = [
      comment('connected'),
      retry(2381),
      idOnly({ epoch: 'e', seq: 41 }),
      messageFrame({ epoch: 'e', seq: 42 }, { type: 'tasks-changed' }),
      comment('ping'),
    ]
    expect(parse(text.join(''))).toEqual([
      { retry: 2381 },
      { id: 'e-41' },
      { id: 'e-42', data: '{"type":"tasks-changed"}' },
    ])
  })

  it('returns the same blocks for any cut of the text and any line end', () => {
    const blocks = 'id: 1\ndata: a\ndata:b\n\n: ping\n\nretry: 5\n\nid\ndata\n\n'
    const expected = [{ id: '1', data: 'a\nb' }, { retry: 5 }, { id: '', data: '' }]
    fc.assert(
      fc.property(
        fc.constantFrom('\n', '\r', '\r\n'),
        fc.array(fc.nat(blocks.length * 2), { maxLength: 8 }),
        (end, cuts) => {
          const text = blocks.replaceAll('\n', end)
          const places = [0, ...cuts.sort((a, b) => a - b), text.length]
          const chunks = places.map((at, i) => text.slice(at, places[i + 1]))
          expect(parse(...chunks)).toEqual(expected)
        },
      ),
    )
  })

  it('drops a byte order mark only at the beginning', () => {
    expect(parse('\uFEFFdata: a\n\n', '\uFEFFdata: b\n\ndata: c\n\n')).toEqual([
      { data: 'a' },
      { data: 'c' },
    ])
  })

  it('removes one space before a value, keeps colons in it, and ignores unknown fields', () => {
    expect(parse('data:  a: b\nevent: other\nretry: soon\nnonsense\n\n')).toEqual([
      { data: ' a: b' },
    ])
  })

  it('ignores an id with NUL, and a block without an end', () => {
    expect(parse('id: a\0b\ndata: x\n\nid: 7\ndata: half')).toEqual([{ data: 'x' }])
  })
})
