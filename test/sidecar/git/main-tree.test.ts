import { expect, it } from 'vitest'
import { MainTreeNews } from '../../../sidecar/git/main-tree.ts'

/** A repository whose commits are in the order of their letters, and how often git was asked. */
function repository(first: { head: string; branch?: string }, tips: Record<string, string> = {}) {
  const state = {
    at: first,
    was: undefined as typeof first | undefined,
    moves: 0,
    asked: 0,
    settle: (): void => undefined,
  }
  const news = new MainTreeNews({
    head: () => `${state.at.head} ${state.at.branch}`,
    headLog: () => String(state.moves),
    wasAt: async () => state.was?.head,
    settled: async () => state.settle(),
    checkedOut: async () => {
      state.asked++
      return state.at
    },
    goesOn: async (commit) => commit < state.at.head,
    tipOf: async (branch) => tips[branch],
  })
  const move = (at: typeof first) =>
    Object.assign(state, { was: state.at, at, moves: state.moves + 1 })
  return { news, state, move }
}

const MAIN = { head: 'b', branch: 'main' }

it('says where the main tree is to an edge that knows nothing, and then nothing more', async () => {
  const { news, state } = repository(MAIN)
  expect(await news.since(undefined)).toEqual(MAIN)
  expect(await news.since(MAIN)).toBeUndefined()
  expect(state.asked).toBe(1)
  expect(news.hasMoved).toBe(false)
})

it.each([
  ['a commit', { head: 'c', branch: 'main' }, undefined],
  ['a reset', { head: 'a', branch: 'main' }, true],
  ['another branch', { head: 'c', branch: 'feat' }, true],
  ['another branch at the same commit', { head: 'b', branch: 'feat' }, true],
  ['a detached HEAD', { head: 'c' }, true],
])('takes %s for a switch, or not', async (_, at, switched) => {
  const { news, move } = repository(MAIN)
  await news.since(undefined)
  move(at)
  expect(news.hasMoved).toBe(true)
  expect(await news.since(MAIN)).toEqual({ ...at, ...(switched && { switched }) })
})

it('says from which commit a branch was left that had gone on since it was last told of', async () => {
  const left = async (tips: Record<string, string>) => {
    const { news, move } = repository(MAIN, tips)
    await news.since(undefined)
    move({ head: 'b', branch: 'feat' })
    return (await news.since(MAIN))?.from
  }
  expect(await left({ main: 'c' })).toBe('c')
  expect(await left({ main: 'b' })).toBeUndefined()
  expect(await left({})).toBeUndefined()
})

it('waits for the end of a switch that has written its files, and says so', async () => {
  const { news, state, move } = repository(MAIN)
  await news.since(undefined)
  state.settle = () => void move({ head: 'a', branch: 'older' })
  expect(await news.since(MAIN)).toEqual({ head: 'a', branch: 'older', switched: true })
})

it('says once that it was at another commit and is back, which no look has seen', async () => {
  const { news, move } = repository(MAIN)
  await news.since(undefined)
  move({ head: 'a', branch: 'older' })
  move(MAIN)
  expect(news.hasMoved).toBe(true)
  expect(await news.since(MAIN)).toEqual({ ...MAIN, switched: true, from: 'a' })
  expect(await news.since(MAIN)).toBeUndefined()
  // A branch at the same commit changes no file.
  move({ head: 'b', branch: 'feat' })
  move(MAIN)
  expect(await news.since(MAIN)).toBeUndefined()
})

it('does not take for another switch what git logged of the one that was told', async () => {
  const { news, move } = repository(MAIN)
  await news.since(undefined)
  move({ head: 'a', branch: 'older' })
  const { switched, ...older } = (await news.since(MAIN)) ?? {}
  expect(switched).toBe(true)
  expect(await news.since({ head: 'a', ...older })).toBeUndefined()
})

it('says nothing while git does not say whether it was a switch', async () => {
  const news = new MainTreeNews({
    head: () => '',
    headLog: () => '',
    wasAt: async () => undefined,
    settled: async () => undefined,
    checkedOut: async () => ({ head: 'c', branch: 'main' }),
    goesOn: async () => undefined,
    tipOf: async () => undefined,
  })
  expect(await news.since(MAIN)).toBeUndefined()
})
