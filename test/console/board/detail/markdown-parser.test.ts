// Parsing in a worker that may take too long, with a fake clock.

import { describe, expect, it } from 'vitest'
import {
  type MarkdownTree,
  markdownParser,
  type ParserWorker,
} from '../../../../console/board/detail/markdown-parser.ts'
import { FakeClock, settle } from '../../../../libraries/testing/fake-clock.ts'

const WANTED = new AbortController().signal

const NEVER = new Promise<MarkdownTree>(() => undefined)

/** Workers that answer `text` at once, and `hostile` never. */
function aParser({ cannotStart = false } = {}) {
  const clock = new FakeClock()
  const seen = { started: 0, ended: 0, asked: [] as string[] }
  const worker: ParserWorker = {
    parse(text) {
      seen.asked.push(text)
      if (text === 'broken') return Promise.reject(new RangeError('too much recursion'))
      return text === 'hostile' ? NEVER : Promise.resolve([text])
    },
    end() {
      seen.ended += 1
    },
  }
  const startWorker = () => {
    seen.started += 1
    return cannotStart ? Promise.reject(new Error('refused')) : Promise.resolve(worker)
  }
  return { clock, seen, parse: markdownParser({ clock, startWorker }) }
}

describe('Markdown', () => {
  it('is parsed by one worker', async () => {
    const { parse, seen, clock } = aParser()
    expect(await parse('a', WANTED)).toEqual(['a'])
    expect(await parse('b', WANTED)).toEqual(['b'])
    expect(seen).toEqual({ started: 1, ended: 0, asked: ['a', 'b'] })
    expect(clock.pending).toBe(0)
  })

  it('that takes a second is given up, and its worker ended', async () => {
    const { parse, seen, clock } = aParser()
    const hostile = parse('hostile', WANTED)
    const next = parse('next', WANTED)
    await clock.advance(999)
    expect(seen).toEqual({ started: 1, ended: 0, asked: ['hostile'] })
    await clock.advance(1)
    expect(await hostile).toBeUndefined()
    expect(await next).toEqual(['next'])
    expect(seen).toEqual({ started: 2, ended: 1, asked: ['hostile', 'next'] })
  })

  it('that breaks the parser ends its worker as well', async () => {
    const { parse, seen } = aParser()
    expect(await parse('broken', WANTED)).toBeUndefined()
    expect(await parse('next', WANTED)).toEqual(['next'])
    expect(seen).toEqual({ started: 2, ended: 1, asked: ['broken', 'next'] })
  })

  it('that is not wanted any more when its turn comes is skipped', async () => {
    const { parse, seen, clock } = aParser()
    const left = new AbortController()
    const texts = [parse('hostile', WANTED), parse('old', left.signal), parse('new', WANTED)]
    await settle()
    left.abort()
    await clock.advance(1_000)
    expect(await Promise.all(texts)).toEqual([undefined, undefined, ['new']])
    expect(seen.asked).toEqual(['hostile', 'new'])
  })

  it('is refused where no worker can be started, and the next text tries again', async () => {
    const { parse, seen } = aParser({ cannotStart: true })
    await expect(parse('a', WANTED)).rejects.toThrow('refused')
    await expect(parse('b', WANTED)).rejects.toThrow('refused')
    expect(seen.started).toBe(2)
  })
})
