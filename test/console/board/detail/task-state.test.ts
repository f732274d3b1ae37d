import { describe, expect, it } from 'vitest'
import { answered, colorOf, type TaskState } from '../../../../console/board/detail/task-state.ts'
import { task as light } from '../../../support/made-up-board.ts'

const LOADING: TaskState = { name: 'loading' }
const task = { ...light('LAMP-4'), runs: [], sessions: [] }
const shown: TaskState = { name: 'shown', task, isGone: false }

describe('the open task', () => {
  it('is shown after it was fetched', () => {
    expect(answered(LOADING, { task })).toEqual(shown)
  })

  it('is unknown if it was never seen, and gone if it was', () => {
    expect(answered(LOADING, { task: undefined })).toEqual({ name: 'unknown' })
    expect(answered(shown, { task: undefined })).toEqual({ ...shown, isGone: true })
  })

  it('stays shown after a failed fetch, with the problem until the next success', () => {
    const doubtful = answered(shown, { problem: 'Nothing answers.' })
    expect(doubtful).toEqual({ ...shown, problem: 'Nothing answers.' })
    expect(answered(doubtful, { task })).toEqual(shown)
    expect(answered(LOADING, { problem: 'Nothing answers.' })).toEqual({
      name: 'failed',
      problem: 'Nothing answers.',
    })
  })
})

it.each([
  ['pass', 'go'],
  ['FAILED', 'stop'],
  ['skipped', 'soft'],
  [undefined, 'soft'],
])('a result of %j is shown in the colour %j', (result, color) => {
  expect(colorOf(result)).toBe(color)
})
