import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type Greeting, greeting } from '../../cli/greeting.ts'
import { tempFolder } from '../support/temp-folder.ts'

const boardIn = (dir: string, tasks: number) => ({
  path: `${dir}#kiro`,
  dir,
  layout: 'kiro' as const,
  tasks,
})

const linesWith = (boards: Greeting['boards'], dataDir = '/shop/.signalbox'): string[] =>
  greeting({
    boards,
    dataDir,
    trustsData: false,
    host: 'node',
    link: '',
    isExample: false,
    cwd: '/shop',
    gateways: [],
    local: {
      url: 'http://127.0.0.1:1',
      path: '/shop',
      boards,
      database: 'd',
      databaseToken: '',
      simulator: '',
      tokens: { payments: '' },
      gateways: {},
    },
  }).split('\n')

const FIRST = { path: '/shop', dir: '/shop', layout: 'openspec' as const, tasks: 12 }

describe('the greeting', () => {
  it('shows no control characters of folders above the lines to paste', () => {
    const dir = '/shop/a\u001b[2J\u009b31m\u202eb\nforged'
    for (const boards of [[boardIn(dir, 1)], [boardIn(dir, 1), boardIn(`${dir}/c`, 1)]]) {
      const [first = ''] = linesWith(boards, `${dir}/.signalbox`).join('\n').split('\n\n')
      expect(first).toContain('forged')
      expect(first).not.toMatch(/[\p{Cc}\u202e](?<!\n)|^forged/mu)
    }
  })

  it('names the command that shows who holds what', () => {
    expect(linesWith([FIRST])).toContain('Who holds which task: signalbox claims')
  })

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
    const add = "-G --data-urlencode 'path=/shop/packages/web#kiro'"
    expect(lines).toContain(`For another board, add to curl: ${add}`)
  })

  it('says that a large board is being read for the first time', () => {
    const [board] = linesWith([{ ...FIRST, tasks: 3_000, reading: 100_001 }])
    expect(board).toBe('board       /shop (openspec, reading 100,001 files …)')
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

  it('has lines for a shell that run nothing of the name of a folder', () => {
    const parent = tempFolder()
    const dataDir = join(parent, `a"'$(touch odd)\`touch odd\` \\b`)
    mkdirSync(dataDir)
    writeFileSync(join(dataDir, 'local.json'), '{"tokens":{"board":"ab"}}')
    const line = linesWith([FIRST], dataDir).find((it) => it.includes('curl -N')) ?? ''
    const printed = execFileSync('bash', ['-c', line.replace('curl', 'echo')], { cwd: parent })
    expect(String(printed)).toBe('-N -H Authorization: Bearer ab http://127.0.0.1:1/api/events\n')
    expect(readdirSync(parent)).toHaveLength(1)
  })
})
