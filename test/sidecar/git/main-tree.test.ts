import { expect, it } from 'vitest'
import { MainTreeNews } from '../../../sidecar/git/main-tree.ts'

/** A repository whose commits are in the order of their letters, and how often git was asked. */
function repository(first: { head: string; branch?: string }, tips: Record<string, string> = {}) {
  const state = {
    at: first,
    moves: ['0 b first'],
    rewrites: 0,
    asked: 0,
    settle: (): void => undefined,
  }
  const news = new MainTreeNews({
    head: () => `${state.at.head} ${state.at.branch}`,
    moves: () => [...state.moves],
    movesSign: () => String(state.moves.length + state.rewrites),
    whenIdle: async () => state.settle(),
    checkedOut: async () => {
      state.asked++
      return state.at
    },
    goesOn: async (commit) => commit < state.at.head,
    tipOf: async (branch) => tips[branch],
  })
  const move = (at: typeof first) => {
    state.moves.push(`${state.at.head} ${at.head} ${state.moves.length}`)
    state.at = at
  }
  /** What an edge that takes it gets. */
  const since = async (sent: typeof first | undefined) => {
    const found = await news.since(sent)
    found?.arrived()
    return found?.main
  }
  return { news, state, move, since }
}

const MAIN = { head: 'b', branch: 'main' }

it('says where the main tree is to an edge that knows nothing, and then nothing more', async () => {
  const { news, state, since } = repository(MAIN)
  expect(await since(undefined)).toEqual(MAIN)
  expect(await since(MAIN)).toBeUndefined()
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
  const { news, since, move } = repository(MAIN)
  await since(undefined)
  move(at)
  expect(news.hasMoved).toBe(true)
  expect(await since(MAIN)).toEqual({ ...at, ...(switched && { switched }) })
})

it('says from which commit a branch was left that had gone on since it was last told of', async () => {
  const left = async (tips: Record<string, string>) => {
    const { since, move } = repository(MAIN, tips)
    await since(undefined)
    move({ head: 'b', branch: 'feat' })
    return (await since(MAIN))?.from
  }
  expect(await left({ main: 'c' })).toBe('c')
  expect(await left({ main: 'b' })).toBeUndefined()
  expect(await left({})).toBeUndefined()
})

it('waits for the end of a switch that has written its files, and says so', async () => {
  const { state, since, move } = repository(MAIN)
  await since(undefined)
  state.settle = () => void move({ head: 'a', branch: 'older' })
  expect(await since(MAIN)).toEqual({ head: 'a', branch: 'older', switched: true })
})

it('says once that it was at another commit and is back, which no look has seen', async () => {
  const { news, since, move } = repository(MAIN)
  await since(undefined)
  move({ head: 'a', branch: 'older' })
  move(MAIN)
  expect(news.hasMoved).toBe(true)
  expect(await since(MAIN)).toEqual({ ...MAIN, switched: true, from: 'a' })
  expect(await since(MAIN)).toBeUndefined()
  // A branch at the same commit changes no file.
  move({ head: 'b', branch: 'feat' })
  move(MAIN)
  expect(await since(MAIN)).toBeUndefined()
})

it('says again that it was away where that did not arrive', async () => {
  const { news, since, move } = repository(MAIN)
  await since(undefined)
  move({ head: 'a', branch: 'older' })
  move(MAIN)
  const away = { ...MAIN, switched: true, from: 'a' }
  expect((await news.since(MAIN))?.main).toEqual(away)
  expect(await since(MAIN)).toEqual(away)
  expect(await since(MAIN)).toBeUndefined()
})

it('takes no commit for a switch whose news arrived though no answer said so', async () => {
  const { news, since, move } = repository(MAIN)
  await since(undefined)
  const later = { head: 'c', branch: 'main' }
  move(later)
  expect((await news.since(MAIN))?.main).toEqual(later)
  expect(await since(later)).toBeUndefined()
  move({ head: 'a', branch: 'older' })
  move(later)
  expect(await since(later)).toEqual({ ...later, switched: true, from: 'a' })
})

it('knows of a move that git has logged before its HEAD has moved', async () => {
  const { state, since, move } = repository(MAIN)
  await since(undefined)
  state.moves.push('b a of a switch')
  expect(await since(MAIN)).toBeUndefined()
  state.at = { head: 'a', branch: 'older' }
  move(MAIN)
  expect(await since(MAIN)).toEqual({ ...MAIN, switched: true, from: 'a' })
})

it('takes another name of its branch for no switch', async () => {
  const { state, since } = repository(MAIN)
  await since(undefined)
  state.moves.push('b 0000 renamed', '0000 b renamed')
  expect(await since(MAIN)).toBeUndefined()
})

it('takes no writing of the log for a move, and knows nothing of moves that it has not any more', async () => {
  const { state, since, move } = repository(MAIN)
  await since(undefined)
  state.rewrites++
  expect(await since(MAIN)).toBeUndefined()
  move({ head: 'a', branch: 'older' })
  move(MAIN)
  state.moves.splice(0, 1)
  expect(await since(MAIN)).toBeUndefined()
})

it('does not take for another switch what git logged of the one that was told', async () => {
  const { since, move } = repository(MAIN)
  await since(undefined)
  move({ head: 'a', branch: 'older' })
  const { switched, ...older } = (await since(MAIN)) ?? {}
  expect(switched).toBe(true)
  expect(await since({ head: 'a', ...older })).toBeUndefined()
})

it('says nothing while git does not say whether it was a switch', async () => {
  const news = new MainTreeNews({
    head: () => '',
    moves: () => [],
    movesSign: () => '',
    whenIdle: async () => undefined,
    checkedOut: async () => ({ head: 'c', branch: 'main' }),
    goesOn: async () => undefined,
    tipOf: async () => undefined,
  })
  expect(await news.since(MAIN)).toBeUndefined()
})
