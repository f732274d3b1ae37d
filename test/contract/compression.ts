// Longer answers are compressed for clients that accept it. For hosts of one process: Cloudflare
// compresses by itself.

import { get, type IncomingMessage } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { gunzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { type Edge, publishedRepo, type Repo, taskRecord, token } from '../support/edge.ts'

type Headers = Readonly<Record<string, string>>

export function compressionContract(name: string, { edge }: { edge(): Edge }): void {
  /** Not fetch, which unpacks an answer and hides that. */
  async function ask(repo: Repo, route: string, headers: Headers): Promise<IncomingMessage> {
    const url = `${edge().origin}/api${route}?path=${encodeURIComponent(repo.path)}`
    const authorization = `Bearer ${await token({ repos: [repo.path] })}`
    return await new Promise((resolve, reject) => {
      get(url, { agent: false, headers: { authorization, ...headers } }, resolve).on(
        'error',
        reject,
      )
    })
  }
  const published = (count: number) =>
    publishedRepo(
      edge(),
      Array.from({ length: count }, (_, n) => taskRecord(`A-${n}`, { labels: ['firmware'] })),
    )
  const GZIP = { 'accept-encoding': 'gzip, deflate, br' }

  describe(`compression on ${name}`, () => {
    it('compresses a long list, which is the same list', async () => {
      const repo = await published(2_000)
      const plain = await ask(repo, '/tasks', {})
      const text = await buffer(plain)
      expect(plain.headers['content-encoding']).toBeUndefined()
      expect(plain.headers.vary).toContain('Accept-Encoding')
      const packed = await ask(repo, '/tasks', GZIP)
      const body = await buffer(packed)
      expect(packed.headers['content-encoding']).toBe('gzip')
      expect(packed.headers.vary?.match(/Accept-Encoding/g)).toHaveLength(1)
      expect(packed.headers['content-type']).toBe(plain.headers['content-type'])
      expect(body.length).toBeLessThan(text.length / 5)
      expect(gunzipSync(body).equals(text)).toBe(true)
      expect(await repo.json('/tasks')).toEqual(JSON.parse(text.toString()))
    })

    it('has one tag for both, and a 304 that says on what the answer depends', async () => {
      const repo = await published(100)
      const tags = new Set<string>()
      for (const headers of [{}, GZIP]) {
        const { headers: answer } = (await ask(repo, '/tasks', headers)).resume()
        expect(answer.etag).toMatch(/^W\//)
        tags.add(answer.etag ?? '')
      }
      expect(tags.size).toBe(1)
      const [tag = ''] = tags
      for (const headers of [{}, GZIP]) {
        const again = await ask(repo, '/tasks', { ...headers, 'if-none-match': tag })
        expect(again.statusCode).toBe(304)
        expect((await buffer(again)).length).toBe(0)
        expect(again.headers.etag).toBe(tag)
        expect(again.headers.vary).toContain('Accept-Encoding')
        expect(again.headers['content-encoding']).toBeUndefined()
      }
    })

    it.each([
      ['a short answer', 1, GZIP],
      ['an answer to a client that accepts only others', 100, { 'accept-encoding': 'zstd' }],
      ['an answer to a client that accepts none', 100, { 'accept-encoding': 'gzip;q=0' }],
    ])('does not compress %s', async (_, count, headers) => {
      const answer = await ask(await published(count), '/tasks', headers)
      expect(answer.headers['content-encoding']).toBeUndefined()
      expect(answer.headers.vary).toContain('Accept-Encoding')
      const { tasks } = JSON.parse((await buffer(answer)).toString())
      expect(tasks).toHaveLength(count)
    })

    it('does not compress a stream, whose blocks would wait in the compressor', async () => {
      const stream = await ask(await published(1), '/events', GZIP)
      expect(stream.headers['content-encoding']).toBeUndefined()
      for await (const chunk of stream) {
        expect(String(chunk)).toMatch(/^: connected/)
        break
      }
    })

    it('answers HEAD and refusals as before', async () => {
      const repo = await published(100)
      const head = await repo.request('/tasks', { method: 'HEAD', headers: GZIP })
      expect(head.status).toBe(200)
      expect(await head.text()).toBe('')
      const refused = await ask(repo, '/tasks/A-9999', GZIP)
      expect(refused.statusCode).toBe(404)
      expect(JSON.parse((await buffer(refused)).toString())).toMatchObject({ code: 'unknown_task' })
    })

    it('goes on when clients leave in the middle of a long answer', async () => {
      const repo = await published(5_000)
      for (let n = 0; n < 20; n++) {
        const answer = await ask(repo, '/tasks', GZIP)
        for await (const _ of answer) break
        answer.destroy()
      }
      const { tasks } = await repo.json<{ tasks: unknown[] }>('/tasks')
      expect(tasks).toHaveLength(5_000)
    })
  })
}
