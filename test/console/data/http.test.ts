import { describe, expect, it } from 'vitest'
import { conditionalRead } from '../../../console/data/http.ts'

const { signal } = new AbortController()

describe('a conditional read', () => {
  it('returns the same object while the edge answers 304', async () => {
    const given: (string | null)[] = []
    const read = conditionalRead<{ n: number }>(async (_, init) => {
      const tag = new Headers(init?.headers).get('If-None-Match')
      given.push(tag)
      return tag === 'W/"1"'
        ? new Response(null, { status: 304 })
        : Response.json({ n: 1 }, { headers: { ETag: 'W/"1"' } })
    })
    const first = await read('/a', signal)
    const again = await read('/a', signal)
    expect(first).toEqual({ body: { n: 1 }, isNew: true })
    expect(again.isNew).toBe(false)
    expect(again.body).toBe(first.body)
    // A tag belongs to its path.
    await read('/b', signal)
    expect(given).toEqual([null, 'W/"1"', null])
  })

  it('rejects with the sentence of the edge, and with `unreachable` without a response', async () => {
    const refused = conditionalRead(async () =>
      Response.json({ code: 'not_configured', error: 'Set LIBSQL_URL.' }, { status: 503 }),
    )
    await expect(refused('/a', signal)).rejects.toMatchObject({
      code: 'not_configured',
      message: 'Set LIBSQL_URL.',
    })
    const away = conditionalRead(async () => {
      throw new TypeError('Failed to fetch')
    })
    await expect(away('/a', signal)).rejects.toMatchObject({ code: 'unreachable', status: 0 })
    // The error page of a proxy is not JSON of the edge.
    const page = conditionalRead(async () => new Response('<html>', { status: 200 }))
    await expect(page('/a', signal)).rejects.toMatchObject({ code: 'internal', status: 200 })
  })
})
