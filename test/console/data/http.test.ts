import { afterEach, describe, expect, it, vi } from 'vitest'
import { merge, repeatedRead, request } from '../../../console/data/http.ts'

afterEach(() => {
  vi.unstubAllGlobals()
})

const answer = (respond: (path: string) => Promise<Response>) => vi.stubGlobal('fetch', respond)

describe('a request', () => {
  it('resolves to the JSON, or to undefined where there is none', async () => {
    answer(async () => Response.json({ n: 1 }))
    expect(await request('/a')).toEqual({ n: 1 })
    answer(async () => new Response(null, { status: 204 }))
    expect(await request('/a')).toBeUndefined()
  })

  it('rejects with the sentence of the edge, and with `unreachable` without a response', async () => {
    answer(async () =>
      Response.json({ code: 'not_configured', error: 'Set LIBSQL_URL.' }, { status: 503 }),
    )
    await expect(request('/a')).rejects.toMatchObject({
      code: 'not_configured',
      message: 'Set LIBSQL_URL.',
    })
    answer(async () => {
      throw new TypeError('Failed to fetch')
    })
    await expect(request('/a')).rejects.toMatchObject({ code: 'unreachable', status: 0 })
    // The error page of a proxy is not JSON of the edge.
    answer(async () => new Response('<html>', { status: 200 }))
    await expect(request('/a')).rejects.toMatchObject({ code: 'internal', status: 200 })
  })
})

describe('a repeated read', () => {
  it('returns the same object while the answer of its path is the same', async () => {
    let n = 1
    answer(async (path) => Response.json({ path, n }))
    const read = repeatedRead()
    const { signal } = new AbortController()
    const first = await read('/a', signal)
    expect(await read('/a', signal)).toBe(first)
    n = 2
    const second = await read('/a', signal)
    expect(second).toEqual({ path: '/a', n: 2 })
    expect(await read('/b', signal)).not.toBe(second)
  })
})

describe('merging a new list into the shown one', () => {
  const shown = new Map([
    ['A', { id: 'A', title: 'one', labels: ['x'] }],
    ['B', { id: 'B', title: 'two', labels: ['y'] }],
    ['C', { id: 'C', title: 'three', labels: [] }],
  ])

  it('keeps the objects that did not change, in the order of the new list, and none that is gone', () => {
    const fresh = [
      { id: 'B', title: 'other', labels: ['y'] },
      { id: 'A', title: 'one', labels: ['x'] },
    ]
    const { items, changed } = merge(shown, fresh)
    expect([...items.values()]).toEqual(fresh)
    expect(items.get('A')).toBe(shown.get('A'))
    expect(items.get('B')).toBe(fresh[0])
    expect(changed).toEqual(['B'])
  })
})
