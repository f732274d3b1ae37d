import { describe, expect, it } from 'vitest'
import { type About, type Step, stepFeed } from '../../cli/board/watched-board.ts'
import { waitFor } from '../../cli/wait/wait-for.ts'

/** A board whose steps a test makes, and what a read finds after each. */
function setUp(since?: string) {
  const end = new AbortController()
  const { steps, add } = stepFeed(end.signal)
  const found = { ids: new Set<string>(), about: { isGone: false } as About }
  const board = {
    steps,
    task: async () => ({ id: undefined, value: undefined }),
    changedAfter: async () => ({ id: 'e-9', value: { rows: [], ids: found.ids } }),
    about: async () => found.about,
  }
  const places: string[] = []
  const wait = { task: undefined, until: { kind: 'any' } as const, since }
  const outcome = waitFor(board, wait, (id) => places.push(id))
  const step = async (next: Step) => {
    add(next)
    await new Promise((resolve) => setImmediate(resolve))
  }
  return { found, places, outcome, step }
}

describe('a wait for any change', () => {
  it('is not ended by a message that brings nothing, such as that of a sidecar which is offline', async () => {
    const { found, places, outcome, step } = setUp()
    await step({ id: 'e-1' })
    await step({ id: 'e-2', changed: {} })
    expect(places).toEqual(['e-1', 'e-2'])
    found.ids.add('T-1')
    await step({ id: 'e-3', changed: {} })
    expect(await outcome).toEqual({ id: 'e-3', type: 'tasks-changed' })
  })

  it('is ended by another configuration, though no task is another', async () => {
    const { found, outcome, step } = setUp()
    await step({ id: 'e-1' })
    found.about = { isGone: false, config: { layout: 'cairn', states: ['open'], closed: [] } }
    await step({ id: 'e-2', changed: {} })
    expect(await outcome).toEqual({ id: 'e-2', type: 'tasks-changed' })
  })

  it('that goes on from a place in the past is ended by what may have been another configuration', async () => {
    const { outcome, step } = setUp('e-0')
    await step({ id: 'e-1', changed: {} })
    expect(await outcome).toEqual({ id: 'e-1', type: 'tasks-changed' })
  })
})
