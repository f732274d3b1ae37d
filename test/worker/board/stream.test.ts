import { describe, expect, it } from 'vitest'
import type {
  FrameSink,
  RepositoryHandle,
  Subscribed,
  Subscription,
} from '../../../worker/board/repositories.ts'
import { openStream, STREAM_LIMITS } from '../../../worker/board/stream.ts'
import { FakeClock } from '../../support/fake-clock.ts'

/** A repository of which a test decides when it answers, tells and lets go. */
class FakeRepository {
  readonly dials: Subscription[] = []
  sinks: FrameSink[] = []
  closed = 0
  answer: 'ok' | 'full' | 'fail' = 'ok'

  readonly handle = {
    subscribe: async (from: Subscription, sink: FrameSink): Promise<Subscribed> => {
      this.dials.push(from)
      if (this.answer === 'fail') throw new Error('unreachable')
      if (this.answer === 'full') return { ok: false, reason: 'full' }
      this.sinks.push(sink)
      return { ok: true, close: () => this.closed++ }
    },
  } as unknown as RepositoryHandle

  tell(text: string): void {
    this.sinks.at(-1)?.frame(new TextEncoder().encode(text))
  }
}

interface Options {
  lastEventId?: string
  expiresInMs?: number
  answer?: FakeRepository['answer']
}

async function open(options: Options = {}) {
  const clock = new FakeClock()
  const repository = new FakeRepository()
  repository.answer = options.answer ?? 'ok'
  const abort = new AbortController()
  const ends: unknown[] = []
  const body = openStream({
    repository: repository.handle,
    lastEventId: options.lastEventId,
    holder: 'ann',
    expiresAt: clock.now() + (options.expiresInMs ?? 86_400_000),
    signal: abort.signal,
    limits: STREAM_LIMITS,
    clock,
    log: (_level, event, fields) => event === 'board.stream_ended' && ends.push(fields.reason),
  })
  const settle = () => new Promise((resolve) => setImmediate(resolve))
  await settle()
  return { clock, repository, abort, ends, body, settle }
}

/** Reads in the background; `text` grows. */
function read(body: ReadableStream<Uint8Array>) {
  const state = { text: '', done: false, reader: body.getReader() }
  const decoder = new TextDecoder()
  const pump = async () => {
    for (;;) {
      const { done, value } = await state.reader.read()
      if (done) break
      state.text += decoder.decode(value)
    }
    state.done = true
  }
  pump().catch(() => {
    state.done = true
  })
  return state
}

describe('a stream', () => {
  it('says connected at once, though its repository cannot be reached', async () => {
    const { body, settle } = await open({ answer: 'fail' })
    const reading = read(body)
    await settle()
    expect(reading.text).toBe(': connected\n\nretry: 2500\n\n')
    await reading.reader.cancel()
  })

  it('pings every 15 s for ten minutes, each ping its own block', async () => {
    const { body, clock } = await open()
    const reading = read(body)
    await clock.advance(600_000)
    expect(reading.text.split(': ping\n\n')).toHaveLength(41)
    await reading.reader.cancel()
  })

  it('redials with the last id when its repository lets go, and doubles its waits', async () => {
    const { body, clock, repository, settle } = await open({ lastEventId: 'e-3' })
    const reading = read(body)
    repository.tell('id: e-4\ndata: {"type":"tasks-changed"}\n\n')
    repository.answer = 'fail'
    repository.sinks[0]?.closed()
    await clock.advance(50)
    expect(repository.dials.map((dial) => dial.lastEventId)).toEqual(['e-3', 'e-4'])
    await clock.advance(99)
    expect(repository.dials).toHaveLength(2)
    await clock.advance(1)
    expect(repository.dials).toHaveLength(3)
    repository.answer = 'ok'
    await clock.advance(10_000)
    expect(repository.dials).toHaveLength(4)
    repository.tell('id: e-5\ndata: {"type":"tasks-changed"}\n\n')
    await settle()
    expect(reading.text.match(/^id: .*$/gm)).toEqual(['id: e-4', 'id: e-5'])
    expect(reading.done).toBe(false)
    await reading.reader.cancel()
  })

  it('subscribes with the time it opened while it has no id, however late it gets through', async () => {
    const { body, clock, repository } = await open({ answer: 'fail' })
    const reading = read(body)
    await clock.advance(60_000)
    expect(new Set(repository.dials.map((dial) => dial.since))).toEqual(new Set([1_000_000]))
    await reading.reader.cancel()
  })

  it.each(['abort', 'cancel'] as const)('ends once by %s, and leaves no timer', async (how) => {
    const { body, clock, repository, abort, ends, settle } = await open()
    const reading = read(body)
    if (how === 'abort') abort.abort()
    else await reading.reader.cancel()
    abort.abort()
    await settle()
    expect(ends).toHaveLength(1)
    expect(repository.closed).toBe(1)
    expect(clock.pending).toBe(0)
    repository.sinks[0]?.closed()
    await clock.advance(60_000)
    expect(repository.dials).toHaveLength(1)
  })

  it('lets go of a subscription that comes through after the client left', async () => {
    const { body, clock, repository, abort } = await open({ answer: 'fail' })
    repository.answer = 'ok'
    const dialled = clock.advance(100)
    abort.abort()
    await dialled
    expect(repository.closed).toBe(repository.sinks.length)
    await body.cancel()
  })

  it('ends by itself after 30 to 60 minutes', async () => {
    const { body, clock, ends } = await open()
    const reading = read(body)
    await clock.advance(44 * 60_000)
    expect(reading.done).toBe(false)
    await clock.advance(2 * 60_000)
    expect(reading.done).toBe(true)
    expect(ends).toEqual(['aged'])
  })

  it('ends when its token expires', async () => {
    const { body, clock, ends } = await open({ expiresInMs: 60_000 })
    const reading = read(body)
    await clock.advance(60_000)
    expect(reading.done).toBe(true)
    expect(ends).toEqual(['expired'])
  })

  it('cuts a reader that is more than 256 KiB behind, and no other', async () => {
    const slow = await open()
    const block = `id: e-1\ndata: ${'x'.repeat(1_000)}\n\n`
    for (let i = 0; i < 250; i++) slow.repository.tell(block)
    expect(slow.ends).toEqual([])
    for (let i = 0; i < 20; i++) slow.repository.tell(block)
    expect(slow.ends).toEqual(['slow'])
    expect(slow.repository.closed).toBe(1)
    expect(slow.clock.pending).toBe(0)
    await expect(slow.body.getReader().read()).rejects.toThrow('too slow')
  })

  it('answers a full repository with a long wait and a clean end', async () => {
    const { body, ends, settle } = await open({ answer: 'full' })
    const reading = read(body)
    await settle()
    expect(reading.text).toContain('retry: 90000\n\n')
    expect(reading.done).toBe(true)
    expect(ends).toEqual(['full'])
  })
})
