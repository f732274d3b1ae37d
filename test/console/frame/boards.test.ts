import { describe, expect, it } from 'vitest'
import { entriesOf, namesOf } from '../../../console/frame/boards.ts'
import { listed } from '../../support/made-up-board.ts'

const SHOP = listed('/home/mira/shop', { title: 'Mira’s shop' })
const SPECS = listed('/home/mira/shop#openspec', { layout: 'openspec' })
const REPOS = ['/home/mira/*']
const pathsOf = (text: string, named: string[] = [], repos = REPOS) =>
  entriesOf({ listed: [SHOP, SPECS], repos, named, text }).map(({ path }) => path)

describe('the boards to choose from', () => {
  it('are those of the edge, then those that only the session or the page names', () => {
    expect(pathsOf('', [SPECS.path, '/home/mira/lamp', '/home/mira/lamp'])).toEqual([
      SHOP.path,
      SPECS.path,
      '/home/mira/lamp',
    ])
  })

  it('are found by their title, folder and tool, in any order and case', () => {
    expect(pathsOf('SHOP mira’s')).toEqual([SHOP.path])
    expect(pathsOf('OpenSpec')).toEqual([SPECS.path])
    expect(pathsOf('mira  #open')).toEqual([SPECS.path])
    expect(pathsOf('lamp', ['/home/mira/lamp'])).toEqual(['/home/mira/lamp'])
  })

  it('have what was typed, if nothing is found and the session covers it', () => {
    expect(pathsOf(' /home/mira/lamp ')).toEqual(['/home/mira/lamp'])
    expect(pathsOf('/home/otto/lamp')).toEqual([])
    expect(pathsOf('/home/mira/lamp*')).toEqual([])
    expect(pathsOf('lamp', [], ['*'])).toEqual(['lamp'])
  })
})

describe('the names of boards', () => {
  const namesAt = (boards: Readonly<Record<string, string>>) => [
    ...namesOf(Object.entries(boards).map(([path, title]) => listed(path, { title }))).values(),
  ]

  it('are their titles', () => {
    expect(namesAt({ '/home/mira/shop': 'Mira’s shop', '/home/mira/lamp': 'Lamp' })).toEqual([
      'Mira’s shop',
      'Lamp',
    ])
  })

  it('have as much of the path as tells those of one title apart', () => {
    expect(
      namesAt({
        '/home/mira/shop': 'shop',
        '/home/otto/shop': 'shop',
        '/srv/otto/shop': 'shop',
        '/home/mira/tea': 'Tea',
        '/home/mira/jam': 'Tea',
        '/home/mira/cake': 'Cake',
      }),
    ).toEqual(['mira/shop', 'home/otto/shop', 'srv/otto/shop', 'Tea · tea', 'Tea · jam', 'Cake'])
    expect(namesAt({ shop: 'shop', '/home/mira/shop': 'shop' })).toEqual(['shop', 'mira/shop'])
  })
})
