import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formatRoute, parseRoute } from '../../console/address.ts'

describe('the address of a view', () => {
  it('names the view, what is open, and the filters', () => {
    expect(parseRoute('#/board/LAMP-4?status=todo&q=a%20b')).toEqual({
      view: 'board',
      id: 'LAMP-4',
      query: { status: 'todo', q: 'a b' },
    })
  })

  it('is the board where it names nothing that is known', () => {
    for (const hash of ['', '#', '#/', '#/nowhere/LAMP-4', '#toString']) {
      expect(parseRoute(hash)).toEqual({ view: 'board', query: {} })
    }
  })

  it('takes a stray percent sign for itself', () => {
    expect(parseRoute('#/board/100%').id).toBe('100%')
  })

  it('leaves out filters that are empty', () => {
    expect(formatRoute({ view: 'payments', query: { status: '', q: 'x' } })).toBe('#/payments?q=x')
  })

  it('comes back whole, whatever an id or a filter holds', () => {
    const text = fc.string({ minLength: 1, unit: 'grapheme' })
    fc.assert(
      fc.property(text, text, (id, value) => {
        const route = { view: 'board' as const, id, query: { q: value } }
        expect(parseRoute(formatRoute(route))).toEqual(route)
      }),
    )
  })
})
