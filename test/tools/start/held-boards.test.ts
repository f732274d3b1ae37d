import { expect, test } from 'vitest'
import { HeldBoards } from '../../../tools/start/held-boards.ts'

const [TEA, JAM] = ['tea', 'jam'].map((name) => ({ key: `cairn /${name}`, name: `/${name}` }))
if (!TEA || !JAM) throw new Error('none')

/** Boards that somebody else has, and those that were taken and not given back. */
function opened(elsewhere: string[]) {
  const taken: string[] = []
  const held = new HeldBoards(async ({ name }) => {
    if (elsewhere.includes(name)) return `It runs elsewhere: ${name}.`
    taken.push(name)
    return async () => void taken.splice(taken.indexOf(name), 1)
  })
  return { held, taken, elsewhere }
}

test('a board stays with a sidecar that was started again, until it lets it go', async () => {
  const { held, taken } = opened([])
  expect(await Promise.all([held.ask(TEA), held.ask(JAM), held.ask(TEA)])).toEqual([
    undefined,
    undefined,
    undefined,
  ])
  expect(taken).toEqual(['/tea', '/jam'])
  await held.letGo('/tea')
  await held.letGo('/none')
  expect(taken).toEqual(['/jam'])
  expect(await held.ask(TEA)).toBeUndefined()
  await held.close()
  expect(taken).toEqual([])
})

test('one that another Signalbox has is asked for anew, and is no refusal once there is any', async () => {
  const { held, taken, elsewhere } = opened(['/tea', '/jam'])
  expect(await held.ask(TEA)).toBe('It runs elsewhere: /tea.')
  expect(held.refused).toBe('It runs elsewhere: /tea.')
  elsewhere.pop()
  expect(await held.ask(JAM)).toBeUndefined()
  expect(held.refused).toBeUndefined()
  elsewhere.pop()
  expect(await held.ask(TEA)).toBeUndefined()
  expect(taken).toEqual(['/jam', '/tea'])
})
