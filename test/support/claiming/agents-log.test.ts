// What agents wrote of their work, spoiled in one way each: it is found.

import { describe, expect, it } from 'vitest'
import { readWork } from './agents-log.ts'

const read = (...lines: string[]) => readWork(`${lines.join('\n')}\n`)

describe('the log of agents that work off a board', () => {
  it('has nothing to say of tasks that were left, taken over from the dead, and done once', () => {
    const work = read(
      'begun T-1 a',
      'begun T-2 b',
      'done T-2 b',
      'killed a',
      'done T-1 a',
      'begun T-1 c',
      'stopped c',
      'begun T-1 d',
      'done T-1 d',
      'woken c',
      'left T-1 c 4',
      'begun T-3 d',
      'left T-3 d 1',
      'begun T-3 c',
      'done T-3 c',
    )
    const counts = { done: 3, begun: 6, refused: 1, overtaken: 0 }
    expect(work).toEqual({ ...counts, working: [], findings: [] })
  })

  it('knows who is at work', () => {
    const lines = ['begun T-1 a', 'begun T-2 b', 'begun T-3 c', 'done T-3 c', 'killed b']
    expect(read(...lines).working).toEqual(['a'])
  })

  it('counts how many tasks others begin while one asks for its own, however often', () => {
    const asked = ['asks a', 'begun T-1 b', 'asks a', 'done T-1 b', 'begun T-2 c', 'begun T-3 a']
    expect(read(...asked, 'begun T-4 b', 'asks a', 'begun T-5 c').overtaken).toBe(2)
  })

  it.each([
    ['two at one task', ['begun T-1 a', 'begun T-1 b'], 'b began T-1 while a worked on it'],
    [
      'one that was woken and goes on with what is another’s',
      ['begun T-1 a', 'stopped a', 'begun T-1 b', 'woken a', 'done T-1 a', 'left T-1 b 4'],
      'a closed T-1, which was not its own any more',
    ],
    [
      'a task that is done again',
      ['begun T-1 a', 'done T-1 a', 'begun T-1 b', 'done T-1 b'],
      'T-1 was done by a and by b',
    ],
    ['a closed task', ['begun T-1 a', 'twice T-1 a'], 'a was given T-1, which was closed'],
  ])('names %s', (_, lines, sentence) => {
    expect(read(...lines).findings).toEqual([sentence])
  })
})
