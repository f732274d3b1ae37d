import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Block, SseParser } from '../../client/sse-parser.ts'
import { comment, frame, idOnly, retry } from '../../worker/board/sse.ts'

/** Everything that these pieces complete. */
function parse(...pieces: string[]): Block[] {
  const parser = new SseParser()
  return pieces.flatMap((piece) => parser.push(piece))
}

describe('the parser of server-sent events', () => {
  it('reads what the edge writes, and says nothing of comments', () => {
    const text = [
      comment('connected'),
      retry(2381),
      idOnly({ epoch: 'e', seq: 41 }),
      frame('e-42', '{"type":"tasks-changed"}'),
      comment('ping'),
    ]
    expect(parse(text.join(''))).toEqual([
      { retry: 2381 },
      { id: 'e-41' },
      { id: 'e-42', data: '{"type":"tasks-changed"}' },
    ])
  })

  it('gives the same however the text is cut, and whatever ends its lines', () => {
    const blocks = 'id: 1\ndata: a\ndata:b\n\n: ping\n\nretry: 5\n\nid\ndata\n\n'
    const expected = [{ id: '1', data: 'a\nb' }, { retry: 5 }, { id: '', data: '' }]
    fc.assert(
      fc.property(
        fc.constantFrom('\n', '\r', '\r\n'),
        fc.array(fc.nat(blocks.length * 2), { maxLength: 8 }),
        (end, cuts) => {
          const text = blocks.replaceAll('\n', end)
          const places = [0, ...cuts.sort((a, b) => a - b), text.length]
          const pieces = places.map((at, i) => text.slice(at, places[i + 1]))
          expect(parse(...pieces)).toEqual(expected)
        },
      ),
    )
  })

  it('drops a byte order mark at the beginning alone', () => {
    expect(parse('\uFEFFdata: a\n\n', '\uFEFFdata: b\n\ndata: c\n\n')).toEqual([
      { data: 'a' },
      { data: 'c' },
    ])
  })

  it('takes one space off a value, keeps colons in it, and ignores fields it does not know', () => {
    expect(parse('data:  a: b\nevent: other\nretry: soon\nnonsense\n\n')).toEqual([
      { data: ' a: b' },
    ])
  })

  it('ignores an id with NUL, and a block that never ended', () => {
    expect(parse('id: a\0b\ndata: x\n\nid: 7\ndata: half')).toEqual([{ data: 'x' }])
  })
})
