import { describe, expect, it } from 'vitest'
import { TransactionsRead } from '../../../../console/payments/feed/transactions-read.ts'

/** An edge with `count` payments, newest first, whose responses have ETags. */
function edge(count: number) {
  const ids = Array.from({ length: count }, (_, at) => String(1_000 + at))
  const status = new Map<string, string>()
  const requests: { query: string; status: number }[] = []
  const send = async (path: unknown, { headers }: RequestInit = {}) => {
    const url = new URL(String(path), 'http://edge')
    const limit = Number(url.searchParams.get('limit'))
    const cursor = url.searchParams.get('cursor')
    const older = [...ids].reverse().filter((id) => cursor === null || id < cursor)
    const page = older.slice(0, limit)
    const transactions = page.map((id) => ({ id, status: status.get(id) ?? 'Pending' }))
    const body = { transactions, ...(page.length === limit && { cursor: page.at(-1) }) }
    const tag = `W/"${JSON.stringify(body).length}-${JSON.stringify(transactions.slice(0, 3))}"`
    const isSame = new Headers(headers).get('If-None-Match') === tag
    requests.push({ query: url.search, status: isSame ? 304 : 200 })
    return isSame
      ? new Response(null, { status: 304, headers: { ETag: tag } })
      : Response.json(body, { headers: { ETag: tag } })
  }
  return { send: send as typeof fetch, ids, status, requests }
}

const { signal } = new AbortController()

describe('reading transactions', () => {
  it('loads fifty at first, then further pages, and keeps all of them up to date', async () => {
    const { send, ids, status, requests } = edge(300)
    const read = new TransactionsRead(send)
    await read.refresh(signal)
    expect(read.shown.value?.rows.size).toBe(50)
    expect(read.shown.value?.hasMore).toBe(true)

    read.loadMore()
    expect(read.isLoadingMore.value).toBe(true)
    await read.refresh(signal)
    expect([...(read.shown.value?.rows.keys() ?? [])]).toEqual([...ids].reverse())
    expect(read.shown.value?.hasMore).toBe(false)
    expect(read.isLoadingMore.value).toBe(false)
    expect(requests.slice(1).map(({ query }) => query)).toEqual([
      '?limit=200',
      '?limit=200&cursor=1100',
    ])
    // Rows that were only loaded later do not flash.
    expect(read.shown.value?.changes.size).toBe(0)

    status.set('1098', 'Paid')
    await read.refresh(signal)
    expect(read.shown.value?.changes).toEqual(new Map([['1098', 1]]))
  })

  it('keeps the objects of rows that did not change', async () => {
    const { send, ids, status, requests } = edge(3)
    const read = new TransactionsRead(send)
    await read.refresh(signal)
    const before = read.shown.value
    await read.refresh(signal)
    expect(read.shown.value).toBe(before)
    expect(requests.at(-1)?.status).toBe(304)

    status.set('1002', 'Paid')
    ids.push('1003')
    await read.refresh(signal)
    expect(read.shown.value?.rows.get('1001')).toBe(before?.rows.get('1001'))
    expect(read.shown.value?.changes).toEqual(
      new Map([
        ['1003', 1],
        ['1002', 1],
      ]),
    )
  })

  it('drops a response for filters that have changed since', async () => {
    const { send } = edge(3)
    const read = new TransactionsRead(send)
    await read.refresh(signal)
    const before = read.shown.value
    const late = read.refresh(signal)
    expect(read.setFilters({ status: 'Paid' })).toBe(true)
    expect(read.setFilters({ status: 'Paid' })).toBe(false)
    await late
    expect(read.shown.value).toBe(before)
    await read.refresh(signal)
    expect(read.shown.value).not.toBe(before)
    // Rows of other filters do not flash.
    expect(read.shown.value?.changes.size).toBe(0)
  })
})
