// What was released as done is offered again once a copy of it says that it is open, and not because
// somebody has checked out another branch.

import { describe, expect, it } from 'vitest'
import { isReopened, type Rest, restOf, seenOf } from '../../../../worker/board/claims/rest.ts'
import type { Task } from '../../../../worker/board/wire.ts'

type Copied = Parameters<typeof isReopened>[1]

const task = (status: string, copyHash: string, more: Partial<Copied> = {}): Copied => {
  const copied = { status, copyHash, ...more }
  return { ...copied, fileHash: JSON.stringify(copied) }
}
const mark = (tree: string, status: string): NonNullable<Task['trees']>[number] => {
  return { tree, status, dir: `/trees/${tree}` }
}
const isClosed = (status: string) => status === 'done'
/** As publications come one after the other; whether one of them reopened it. */
function reopens(released: Copied, ...seen: Copied[]): boolean {
  let rest: Rest = restOf(released, 'began')
  return seen.some((next) => {
    const isOver = isReopened(rest, next, isClosed)
    rest = { ...rest, ...seenOf(next) }
    return isOver
  })
}

const done = { trees: [mark('feat', 'done')] }
const inFeat = task('todo', 'open', done)

describe('a task that was released as done', () => {
  it('rests while its branch is not merged, and when it is', () => {
    const plain = task('todo', 'open')
    expect(reopens(inFeat, plain, inFeat, task('done', 'merged'))).toBe(false)
  })

  it('rests while the main tree is on an older branch, before or after it was merged', () => {
    const older = task('todo', 'open', { trees: [mark('other', 'done')] })
    expect(reopens(inFeat, task('done', 'merged'), older, task('done', 'merged'))).toBe(false)
    expect(reopens(inFeat, task('todo', 'open'), older)).toBe(false)
  })

  it('is offered again when the main tree has another text that is open', () => {
    expect(reopens(inFeat, task('todo', 'more to do'))).toBe(true)
    expect(reopens(inFeat, task('done', 'merged'), task('todo', 'not good'))).toBe(true)
  })

  it('is offered again when a worktree has opened it', () => {
    expect(reopens(inFeat, task('todo', 'open', { trees: [mark('feat', 'todo')] }))).toBe(true)
  })

  it('rests while a worktree goes to another branch, or is moved', () => {
    const seenIn = (more: Partial<ReturnType<typeof mark>>) =>
      task('todo', 'open', { trees: [{ ...mark('feat', 'doing'), branch: 'feat', ...more }] })
    const rests = reopens(seenIn({}), seenIn({ branch: 'next' }), seenIn({ dir: '/trees/moved' }))
    expect(rests).toBe(false)
    expect(reopens(seenIn({}), seenIn({ status: 'todo' }))).toBe(true)
  })

  it('that was released while the main tree had none is not reopened by the text of its beginning', () => {
    const alone = task('done', 'of feat', { inMain: false, ...done })
    expect(reopens(alone, task('todo', 'began'))).toBe(false)
    expect(reopens(alone, task('todo', 'another'))).toBe(true)
  })

  it('rests while it is away', () => {
    const rest = { ...restOf(undefined, 'began'), ...seenOf(undefined) }
    expect(isReopened(rest, task('todo', 'began'), isClosed)).toBe(false)
  })
})
