import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formatRoute, parseRoute } from '../../console/address.ts'
import { lastPart } from '../../worker/shared/repos.ts'

describe('the URL of a view', () => {
  it('contains the view, the open id and the filters', () => {
    expect(parseRoute('#/board/LAMP-4?status=todo&q=a%20b')).toEqual({
      view: 'board',
      id: 'LAMP-4',
      query: { status: 'todo', q: 'a b' },
    })
  })

  it('contains the path of the board, with its slashes', () => {
    const route = { view: 'board' as const, id: 'a/b', path: '/home/mira/my shop', query: {} }
    const hash = '#/board/a%2Fb?path=/home/mira/my+shop'
    expect(formatRoute(route)).toBe(hash)
    expect(parseRoute(hash)).toEqual(route)
  })

  it('leads to the same task where the slash of its id was typed as it is', () => {
    expect(parseRoute('#/board/add-login/1.2?path=shop').id).toBe('add-login/1.2')
  })

  it('is the board for an unknown view', () => {
    for (const hash of ['', '#', '#/', '#/nowhere/LAMP-4', '#toString']) {
      expect(parseRoute(hash)).toEqual({ view: 'board', query: {} })
    }
  })

  it('accepts a stray percent sign', () => {
    expect(parseRoute('#/board/100%').id).toBe('100%')
  })

  it('omits empty filters', () => {
    expect(formatRoute({ view: 'payments', query: { status: '', q: 'x' } })).toBe('#/payments?q=x')
  })

  it('is parsed back to the same route, for any id and filter', () => {
    const text = fc.string({ minLength: 1, unit: 'grapheme' })
    fc.assert(
      fc.property(text, text, text, (id, path, value) => {
        const route = { view: 'board' as const, id, path, query: { q: value } }
        expect(parseRoute(formatRoute(route))).toEqual(route)
      }),
    )
  })
})

describe('the name of a board', () => {
  it.each([
    ['/home/mira/shop', 'shop'],
    ['C:\\work\\shop\\', 'shop'],
    ['github.com/acme/shop', 'shop'],
    ['shop', 'shop'],
    ['/', '/'],
  ])('%s is %s', (path, name) => {
    expect(lastPart(path)).toBe(name)
  })
})
