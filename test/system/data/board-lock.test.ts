import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { boardLocks, type TakeBoard } from '../../../system/data/board-lock.ts'
import { tempFolder } from '../../support/temp-folder.ts'

let home: string
let notices: string[]
beforeEach(() => {
  home = tempFolder()
  notices = []
})

const locks = (
  place: string,
  more: { isChosen?: boolean; HOME?: string; namespace?: string } = {},
): TakeBoard => {
  const { isChosen = false, HOME = home } = more
  const notice = (sentence: string) => void notices.push(sentence)
  const machine = { boot: 'b', namespace: more.namespace ?? 'n' }
  return boardLocks({ env: { HOME }, machine, dataDir: join(home, place), isChosen, notice })
}

const TEA = { key: 'cairn /tea/.cairn/tasks', name: '/tea' }
const POT = { key: 'cairn /pot/.cairn/tasks', name: '/pot' }

async function taken(by: TakeBoard, board: typeof TEA) {
  const found = await by(board)
  if (typeof found === 'string') return found
  onTestFinished(found)
  return found
}

test('a board is one Signalbox’s until it gives it back, and another is told where that runs', async () => {
  const [one, other] = [locks('one'), locks('other')]
  const release = await taken(one, TEA)
  const there = `Signalbox already runs for the board /tea (pid ${process.pid}, data in ${home}/one)`
  expect(await other(TEA)).toBe(`${there}: it is left out here.`)
  expect(await taken(other, POT)).toBeTypeOf('function')
  // In a container with the same home, a board at the same place is another one.
  expect(await taken(locks('other', { namespace: 'm' }), TEA)).toBeTypeOf('function')
  if (typeof release === 'function') await release()
  expect(await taken(other, TEA)).toBeTypeOf('function')
  expect(notices).toEqual([])
})

test('with a data folder of its own choice it runs, too, and one line says what that means', async () => {
  await taken(locks('one'), TEA)
  const other = locks('other', { isChosen: true })
  for (let n = 0; n < 2; n++) expect(await taken(other, TEA)).toBeTypeOf('function')
  expect(notices).toEqual([expect.stringContaining('claims are not shared')])
})

test('where no lock can be had it runs, with one line', async () => {
  const none = locks('one', { HOME: '' })
  for (const board of [TEA, POT]) expect(await taken(none, board)).toBeTypeOf('function')
  const what = 'no other Signalbox is kept from the same boards.'
  expect(notices).toEqual([`There is no lock for boards (HOME names no folder): ${what}`])
  // Nothing can be made in what is a file.
  writeFileSync(join(home, 'file'), '')
  expect(await taken(locks('one', { HOME: join(home, 'file') }), TEA)).toBeTypeOf('function')
  expect(notices).toHaveLength(2)
  expect(notices[1]).toContain('ENOTDIR')
})
