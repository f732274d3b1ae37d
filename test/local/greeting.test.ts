import { describe, expect, it } from 'vitest'
import { type Greeting, greeting } from '../../local/greeting.ts'

const boardIn = (dir: string, tasks: number) => ({
  ...{ path: `${dir}#kiro`, dir, layout: 'kiro' as const, tasks },
})

const linesWith = (boards: Greeting['boards']): string[] =>
  greeting({
    ...{ boards, dataDir: '/shop/.signalbox', trustsData: false, host: 'node', link: '' },
    ...{ isExample: false, cwd: '/shop', gateways: [] },
    local: {
      ...{ url: 'http://127.0.0.1:1', path: '/shop', boards, database: 'd', databaseToken: '' },
      ...{ simulator: '', tokens: { payments: '' }, gateways: {} },
    },
  }).split('\n')

const FIRST = { path: '/shop', dir: '/shop', layout: 'openspec' as const, tasks: 12 }

describe('the greeting', () => {
  it('names one board, and the repository that it is', () => {
    const lines = linesWith([FIRST])
    expect(lines.slice(0, 2)).toEqual([
      'board       /shop (openspec, 12 tasks)',
      'repository  /shop',
    ])
  })

  it('has a line for each of several boards, with its folder, layout, tasks and name', () => {
    const lines = linesWith([FIRST, boardIn('/shop/packages/web', 1), boardIn('/other', 0)])
    expect(lines.slice(0, 4)).toEqual([
      'boards      /shop (openspec, 12 tasks): /shop',
      '            packages/web (kiro, 1 task): /shop/packages/web#kiro',
      '            /other (kiro, 0 tasks): /other#kiro',
      'edge        http://127.0.0.1:1 (node)',
    ])
  })

  it('counts what is beyond ten boards', () => {
    const boards = Array.from({ length: 23 }, (_, n) => boardIn(`/shop/packages/p${n}`, n))
    const lines = linesWith([FIRST, ...boards])
    expect(lines.slice(9, 12)).toEqual([
      '            packages/p8 (kiro, 8 tasks): /shop/packages/p8#kiro',
      '            and 14 more',
      'edge        http://127.0.0.1:1 (node)',
    ])
  })
})
