import { expect, test } from 'vitest'
import type { LocalBoard } from '../../../system/data/local-json.ts'
import { FoundBoards } from '../../../tools/start/found-boards.ts'

const boardOf = (path: string): LocalBoard => ({ path, dir: path, layout: 'cairn' })
const [TEA, JAM] = [boardOf('/tea'), boardOf('/jam')]
const found = ({ path, ...rest }: LocalBoard) => ({ board: path, ...rest })

test('a board has appeared once the first are ready, and no second time in a sidecar that starts again', () => {
  const told: string[] = []
  const boards = new FoundBoards(TEA, {
    onAppeared: ({ path }) => told.push(`appeared ${path}`),
    onLeft: (name) => told.push(`left ${name}`),
  })
  boards.onEvent('board.found', found(TEA))
  boards.onEvent('sidecar.reading', { board: '/tea', files: 2_000 })
  expect([boards.all(), boards.readingOf(TEA), boards.isReady]).toEqual([[TEA], 2_000, false])
  boards.onEvent('sidecar.ready', { board: '/tea' })
  boards.onEvent('boards.ready', {})
  expect([boards.readingOf(TEA), boards.isReady]).toEqual([undefined, true])
  boards.onEvent('board.found', found(JAM))
  for (const board of [TEA, JAM]) boards.onEvent('board.found', found(board))
  expect(boards.all()).toEqual([TEA, JAM])
  boards.onEvent('board.left', { board: '/jam' })
  boards.onEvent('board.found', found(JAM))
  expect(told).toEqual(['appeared /jam', 'left /jam', 'appeared /jam'])
})
