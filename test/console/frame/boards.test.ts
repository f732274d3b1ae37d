import { describe, expect, it } from 'vitest'
import { entriesOf } from '../../../console/frame/boards.ts'
import { listed } from '../../support/made-up-board.ts'

const SHOP = listed('/home/mira/shop', { title: 'Mira’s shop' })
const SPECS = listed('/home/mira/shop#openspec', { layout: 'openspec' })
const REPOS = ['/home/mira/*']
const pathsOf = (text: string, named: string[] = [], repos = REPOS) =>
  entriesOf({ listed: [SHOP, SPECS], repos, named, text }).map(({ path }) => path)

describe('the boards to choose from', () => {
  it('are those of the edge, then those that only the session or the page names', () => {
    expect(pathsOf('', [SPECS.path, '/home/mira/lamp', '/home/mira/lamp'])).toEqual([
      ...[SHOP.path, SPECS.path, '/home/mira/lamp'],
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
