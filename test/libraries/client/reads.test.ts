import { describe, expect, it } from 'vitest'
import { activityRoute } from '../../../libraries/client/message.ts'
import { Reads } from '../../../libraries/client/reads.ts'
import { Edge } from '../../../libraries/client/requests.ts'
import { FakeClock, settle } from '../../../libraries/testing/fake-clock.ts'
import { hostClock } from '../../../worker/shared/clock.ts'
import { redirecting } from '../../support/redirecting.ts'

interface Request {
  url: string
  headers: Headers
  signal: AbortSignal | null | undefined
  answer(response: Response): void
}

function reading() {
  const requests: Request[] = []
  const clock = new FakeClock()
  const edge = new Edge({
    url: 'https://edge.test/base',
    path: 'a/b',
    token: 't',
    clock,
    fetch: (input, init) =>
      new Promise((resolve, reject) => {
        init?.signal?.addEventListener('abort', () => reject(new Error('aborted')))
        const headers = new Headers(init?.headers)
        requests.push({ url: String(input), headers, signal: init?.signal, answer: resolve })
      }),
  })
  return { requests, clock, reads: new Reads(edge) }
}

const tagged = (value: unknown, tag: string) =>
  new Response(JSON.stringify(value), { headers: { ETag: tag } })
const refusal = (status: number, code: string) =>
  new Response(JSON.stringify({ error: 'No.', code }), { status })

describe('reads', () => {
  it('follow no redirect, where the token would be sent to another host', async () => {
    const { url, asked } = await redirecting()
    const edge = new Edge({ url, path: 'a', token: 't', clock: hostClock, fetch })
    await expect(new Reads(edge).read('/tasks')).rejects.toMatchObject({ code: 'http_307' })
    expect(asked).toEqual(['/api/tasks?path=a'])
  })

  it('send the repository and the token to the edge', async () => {
    const { requests, reads } = reading()
    void reads.read('/tasks/A%201')
    await settle()
    expect(requests[0]?.url).toBe('https://edge.test/base/api/tasks/A%201?path=a%2Fb')
    expect(requests[0]?.headers.get('Authorization')).toBe('Bearer t')
  })

  it('of the history send what is asked for beside the repository', async () => {
    const { requests, reads } = reading()
    void reads.read(activityRoute({ task: 'A 1', limit: 5, since: undefined }))
    await settle()
    expect(requests[0]?.url).toBe('https://edge.test/base/api/activity?task=A+1&limit=5&path=a%2Fb')
  })

  it('of all boards name no repository', async () => {
    const { requests, reads } = reading()
    void reads.read('/boards')
    await settle()
    expect(requests[0]?.url).toBe('https://edge.test/base/api/boards')
  })

  it('have one request in flight per route and one that waits, for any number of callers', async () => {
    const { requests, reads } = reading()
    const first = reads.read('/tasks')
    const later = [reads.read('/tasks'), reads.read('/tasks'), reads.read('/tasks')]
    await settle()
    expect(requests).toHaveLength(1)
    requests[0]?.answer(tagged(1, 'W/"1"'))
    expect(await first).toMatchObject({ value: 1 })
    await settle()
    expect(requests).toHaveLength(2)
    requests[1]?.answer(tagged(2, 'W/"2"'))
    for (const read of later) expect(await read).toMatchObject({ value: 2, tag: 'W/"2"' })
    await settle()
    expect(requests).toHaveLength(2)
  })

  it('send the waiting request even if the one before it fails', async () => {
    const { requests, reads } = reading()
    const first = reads.read('/tasks')
    const second = reads.read('/tasks')
    await settle()
    requests[0]?.answer(refusal(503, 'not_configured'))
    await expect(first).rejects.toMatchObject({ status: 503, code: 'not_configured' })
    await settle()
    requests[1]?.answer(tagged(2, 'W/"2"'))
    expect(await second).toMatchObject({ value: 2 })
  })

  it('send the ETag of the cached value, and return that value for a 304', async () => {
    const { requests, reads } = reading()
    const first = reads.read('/tasks')
    await settle()
    requests[0]?.answer(tagged([1], 'W/"1"'))
    const found = await first
    const second = reads.read('/tasks')
    await settle()
    expect(requests[1]?.headers.get('If-None-Match')).toBe('W/"1"')
    requests[1]?.answer(new Response(null, { status: 304, headers: { 'X-Signalbox-Seq': 'e-2' } }))
    expect(await second).toEqual({ ...found, seq: 'e-2' })
  })

  it('distinguish a deleted task from a repository that is not published yet', async () => {
    const { requests, reads } = reading()
    const task = reads.read('/tasks/A-1')
    const list = reads.read('/tasks')
    await settle()
    for (const { url, answer } of requests) {
      answer(refusal(404, url.includes('A-1') ? 'unknown_task' : 'unknown_repository'))
    }
    expect(await task).toEqual({ state: 'absent' })
    expect(await list).toEqual({ state: 'unpublished' })
  })

  it('abort a request without a response, and all requests on close()', async () => {
    const { clock, requests, reads } = reading()
    const lost = reads.read('/tasks')
    const given = expect(lost).rejects.toMatchObject({ status: 0, code: 'unreachable' })
    await clock.advance(20_000)
    await given
    const closed = reads.read('/tasks')
    await settle()
    reads.close()
    await expect(closed).rejects.toMatchObject({ code: 'unreachable' })
    expect(requests.every(({ signal }) => signal?.aborted)).toBe(true)
    expect(clock.pending).toBe(0)
  })

  it('reject if the response breaks off', async () => {
    const { requests, reads } = reading()
    const read = reads.read('/tasks')
    await settle()
    requests[0]?.answer(new Response('{"tasks":['))
    await expect(read).rejects.toMatchObject({ code: 'unreachable' })
  })
})
