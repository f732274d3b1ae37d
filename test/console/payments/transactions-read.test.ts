import { afterEach, describe, expect, it, vi } from 'vitest'
import {
  filePathOf,
  filtersOf,
  isFiltering,
  pathOf,
  TransactionsRead,
} from '../../../console/payments/transactions-read.ts'

afterEach(() => {
  vi.unstubAllGlobals()
})

/** An edge with `count` payments, newest first. */
function edge(count: number) {
  const ids = Array.from({ length: count }, (_, at) => String(1_000 + at))
  const status = new Map<string, string>()
  const requests: string[] = []
  vi.stubGlobal('fetch', async (path: string) => {
    const url = new URL(path, 'http://edge')
    const limit = Number(url.searchParams.get('limit'))
    const cursor = url.searchParams.get('cursor')
    const older = [...ids].reverse().filter((id) => cursor === null || id < cursor)
    const page = older.slice(0, limit)
    const transactions = page.map((id) => ({ id, status: status.get(id) ?? 'Pending' }))
    requests.push(url.search)
    return Response.json({ transactions, ...(page.length === limit && { cursor: page.at(-1) }) })
  })
  return { ids, status, requests }
}

const { signal } = new AbortController()

describe('reading transactions', () => {
  it('loads fifty at first, then further pages, and keeps all of them up to date', async () => {
    const { ids, status, requests } = edge(300)
    const read = new TransactionsRead()
    await read.refresh(signal)
    expect(read.shown.value?.rows.size).toBe(50)
    expect(read.shown.value?.hasMore).toBe(true)

    read.loadMore()
    expect(read.isLoadingMore.value).toBe(true)
    await read.refresh(signal)
    expect([...(read.shown.value?.rows.keys() ?? [])]).toEqual([...ids].reverse())
    expect(read.shown.value?.hasMore).toBe(false)
    expect(read.isLoadingMore.value).toBe(false)
    expect(requests.slice(1)).toEqual(['?limit=200', '?limit=200&cursor=1100'])
    // Rows that were only loaded later do not flash.
    expect(read.shown.value?.changes.size).toBe(0)

    status.set('1098', 'Paid')
    await read.refresh(signal)
    expect(read.shown.value?.changes).toEqual(new Map([['1098', 1]]))
  })

  it('keeps the objects of rows that did not change', async () => {
    const { ids, status } = edge(3)
    const read = new TransactionsRead()
    await read.refresh(signal)
    const before = read.shown.value
    await read.refresh(signal)
    expect(read.shown.value).toBe(before)

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

  it('reads a search that is shown in every sixth round, and another one at once', async () => {
    const { requests } = edge(3)
    const read = new TransactionsRead()
    read.setFilters({ q: 'a' })
    for (let round = 0; round < 7; round++) await read.refresh(signal)
    expect(requests).toHaveLength(2)
    read.setFilters({ q: 'b' })
    await read.refresh(signal)
    expect(requests).toHaveLength(3)
  })

  it('drops a response for filters that have changed since', async () => {
    edge(3)
    const read = new TransactionsRead()
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

describe('the filters in a URL', () => {
  it('omit empty and unknown values', () => {
    expect(filtersOf({ status: 'Paid', gateway: 'fib', q: ' order-1 ' })).toEqual({
      status: 'Paid',
      gateway: 'fib',
      q: 'order-1',
    })
    expect(filtersOf({ status: 'Paied', gateway: '', q: '  ', open: 'newest' })).toEqual({})
    expect(filtersOf({ status: 'toString' })).toEqual({})
    expect(isFiltering(filtersOf({ q: '' }))).toBe(false)
    expect(isFiltering(filtersOf({ reference: 'a' }))).toBe(true)
  })

  it('have whole days of this machine', () => {
    const midnight = (day: string) => new Date(`${day}T00:00`).toISOString()
    expect(filtersOf({ from: '2026-02-28', to: '2026-02-28' })).toEqual({
      after: midnight('2026-02-28'),
      before: midnight('2026-03-01'),
    })
    expect(filtersOf({ from: 'yesterday', to: '2026-13-01', currency: 'iqd' })).toEqual({})
  })

  it('become the path of a page, for any value', () => {
    expect(pathOf({ q: 'a&b=c' }, 50)).toBe('/api/payments/transactions?q=a%26b%3Dc&limit=50')
    expect(filePathOf({ q: 'a', needs: 'person' })).toBe(
      '/api/payments/transactions?q=a&needs=person&format=csv',
    )
    expect(pathOf({}, 200, 'x')).toBe('/api/payments/transactions?limit=200&cursor=x')
  })
})
