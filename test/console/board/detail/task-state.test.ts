import { describe, expect, it } from 'vitest'
import { answered, type TaskState } from '../../../../console/board/detail/task-state.ts'
import { task as light } from '../../../support/made-up-board.ts'

const LOADING: TaskState = { name: 'loading' }
const task = { ...light('LAMP-4'), runs: [], sessions: [] }
const shown: TaskState = { name: 'shown', task, isGone: false }

describe('the open task', () => {
  it('is shown once it was fetched', () => {
    expect(answered(LOADING, { task })).toEqual(shown)
  })

  it('is unknown where there never was one, and gone where there was', () => {
    expect(answered(LOADING, { task: undefined })).toEqual({ name: 'unknown' })
    expect(answered(shown, { task: undefined })).toEqual({ ...shown, isGone: true })
  })

  it('stays shown while it cannot be fetched, and says so until it can', () => {
    const doubtful = answered(shown, { problem: 'Nothing answers.' })
    expect(doubtful).toEqual({ ...shown, problem: 'Nothing answers.' })
    expect(answered(doubtful, { task })).toEqual(shown)
    expect(answered(LOADING, { problem: 'Nothing answers.' })).toEqual({
      name: 'failed',
      problem: 'Nothing answers.',
    })
  })

  it('comes back when its file does', () => {
    expect(answered(answered(shown, { task: undefined }), { task })).toEqual(shown)
  })
})
