import { describe, expect, it } from 'vitest'
import { FakeClock } from '../../../../libraries/testing/fake-clock.ts'
import { openStream, STREAM_LIMITS } from '../../../../worker/board/streams/stream.ts'
import type {
  ChangeStream,
  StreamSink,
  Subscribed,
  Subscription,
} from '../../../../worker/board/streams/subscription.ts'

/** A repository of which a test decides what it answers and tells. */
class FakeRepository {
  readonly joins: Subscription[] = []
  sink: StreamSink | undefined
  left = 0
  pings = 0
  answer: 'ok' | 'full' | 'fail' = 'ok'

  readonly handle: ChangeStream = {
    subscribe: (from: Subscription, sink: StreamSink): Subscribed => {
      this.joins.push(from)
      if (this.answer === 'fail') throw new Error('unreachable')
      if (this.answer === 'full') sink.end('full')
      else this.sink = sink
      return { onPing: () => this.pings++, close: () => this.left++ }
    },
  }

  tell(text: string): void {
    this.sink?.send(new TextEncoder().encode(text))
  }
}

interface Options {
  lastEventId?: string
  expiresInMs?: number
  ageMs?: number
  answer?: FakeRepository['answer']
  hasEnded?: () => Promise<boolean>
  isAborted?: boolean
}

async function open(options: Options = {}) {
  const clock = new FakeClock()
  const repository = new FakeRepository()
  repository.answer = options.answer ?? 'ok'
  const abort = new AbortController()
  if (options.isAborted) abort.abort()
  const ends: unknown[] = []
  /** What an operator has to see. */
  const logged: string[] = []
  const body = openStream({
    repository: repository.handle,
    lastEventId: options.lastEventId,
    holder: 'ann',
    expiresAt: clock.now() + (options.expiresInMs ?? 86_400_000),
    signal: abort.signal,
    limits: { ...STREAM_LIMITS, ...(options.ageMs && { ageMs: options.ageMs }) },
    clock,
    rare: (level, event) => logged.push(`rarely ${level} ${event}`),
    log: (level, event, fields) => {
      if (event === 'board.stream_ended') ends.push(fields.reason)
      if (level !== 'debug') logged.push(`${level} ${event}`)
    },
    ...(options.hasEnded && { hasEnded: options.hasEnded }),
  })
  const settle = () => new Promise((resolve) => setImmediate(resolve))
  await settle()
  return { clock, repository, abort, ends, logged, body, settle }
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
  it('says connected at once, and ends with a reason when its repository fails', async () => {
    const { body, ends, logged, settle } = await open({ answer: 'fail' })
    const reading = read(body)
    await settle()
    expect(reading.text).toBe(': connected\n\nretry: 2500\n\n')
    expect(reading.done).toBe(true)
    expect(ends).toEqual(['failed'])
    expect(logged).toEqual(['error board.subscribe_failed'])
  })

  it('joins from its last event id and from when it was opened, and forwards what it is sent', async () => {
    const { body, repository, settle } = await open({ lastEventId: 'e-3' })
    const reading = read(body)
    expect(repository.joins).toEqual([{ lastEventId: 'e-3', since: 1_000_000, holder: 'ann' }])
    repository.tell('id: e-4\ndata: {"type":"tasks-changed"}\n\n')
    await settle()
    expect(reading.text).toContain('id: e-4\n')
    await reading.reader.cancel()
  })

  it('pings every 15 s for ten minutes, each ping its own block', async () => {
    const { body, clock, repository } = await open()
    const reading = read(body)
    await clock.advance(600_000)
    expect(reading.text.split(': ping\n\n')).toHaveLength(41)
    expect(repository.pings).toBe(40)
    await reading.reader.cancel()
  })

  it.each(['aborted', 'cancelled'] as const)(
    'that is %s ends once, and leaves no timer',
    async (how) => {
      const { body, clock, repository, abort, ends, settle } = await open()
      const reading = read(body)
      if (how === 'aborted') abort.abort()
      else await reading.reader.cancel()
      abort.abort()
      await settle()
      expect(ends).toEqual([how])
      expect(repository.left).toBe(1)
      expect(clock.pending).toBe(0)
      repository.tell('id: e-1\n\n')
      await settle()
      expect(reading.text).not.toContain('e-1')
    },
  )

  it('whose client went before it was opened joins nothing', async () => {
    const { body, clock, repository, ends } = await open({ isAborted: true })
    expect([ends, repository.joins, clock.pending]).toEqual([['aborted'], [], 0])
    expect(await body.getReader().read()).toMatchObject({ done: true })
  })

  it('ends at the ping after its session was ended, and at none before', async () => {
    let hasEnded = false
    const { body, clock, ends } = await open({ hasEnded: async () => hasEnded })
    const reading = read(body)
    await clock.advance(60_000)
    expect(ends).toEqual([])
    hasEnded = true
    await clock.advance(15_000)
    expect([ends, reading.done]).toEqual([['signed_out'], true])
  })

  it('ends with its repository, without a longer wait', async () => {
    const { body, repository, ends, settle } = await open()
    const reading = read(body)
    repository.sink?.end('closed')
    await settle()
    expect([ends, reading.text]).toEqual([['closed'], ': connected\n\nretry: 2500\n\n'])
  })

  it('does not end by itself', async () => {
    const { body, clock } = await open()
    const reading = read(body)
    await clock.advance(2 * 3_600_000)
    expect(reading.done).toBe(false)
    await reading.reader.cancel()
  })

  it('ends after 30 to 60 minutes where its host limits it to 30', async () => {
    const { body, clock, ends } = await open({ ageMs: 30 * 60_000 })
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
    expect(slow.repository.left).toBe(1)
    expect(slow.clock.pending).toBe(0)
    await expect(slow.body.getReader().read()).rejects.toThrow('too slow')
  })

  it('cuts a reader for which something has waited for a minute, and no other', async () => {
    const [slow, good] = [await open(), await open()]
    const reading = read(good.body)
    await slow.clock.advance(70_000)
    expect(slow.ends).toEqual([])
    await slow.clock.advance(15_000)
    expect(slow.ends).toEqual(['slow'])
    await good.clock.advance(10 * 60_000)
    expect([good.ends, reading.done]).toEqual([[], false])
  })

  it('answers a full repository with a long wait and a clean end', async () => {
    const { body, repository, ends, logged, settle } = await open({ answer: 'full' })
    const reading = read(body)
    await settle()
    expect(reading.text).toContain('retry: 90000\n\n')
    expect(reading.done).toBe(true)
    expect([ends, repository.left]).toEqual([['full'], 1])
    expect(logged).toEqual(['rarely warn board.streams_full'])
  })
})
