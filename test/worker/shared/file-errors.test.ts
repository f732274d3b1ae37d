import { describe, expect, it } from 'vitest'
import { isDamaged, isDiskFailure } from '../../../worker/shared/file-errors.ts'

const withCode = (code: string) => Object.assign(new Error('it failed'), { code })

describe('an error of a file', () => {
  it.each([
    // SQLite has no room for what its processes share.
    withCode('SQLITE_IOERR_SHMSIZE'),
    withCode('SQLITE_FULL'),
    withCode('ENOSPC'),
    Object.assign(new Error('disk I/O error'), { errcode: 10 | (19 << 8) }),
    new Error('It cannot be opened.', { cause: withCode('EDQUOT') }),
  ])('is the disk’s: %s', (error) => {
    expect([isDiskFailure(error), isDamaged(error)]).toEqual([true, false])
  })

  it.each([
    withCode('SQLITE_CORRUPT_INDEX'),
    Object.assign(new Error('it failed'), { errcode: 11 | (3 << 8) }),
    new Error('file is not a database'),
  ])('is that its database is damaged: %s', (error) => {
    expect([isDiskFailure(error), isDamaged(error)]).toEqual([false, true])
  })

  it.each([withCode('EACCES'), withCode('SQLITE_BUSY'), undefined, 'database or disk is full'])(
    'is neither: %s',
    (error) => {
      expect([isDiskFailure(error), isDamaged(error)]).toEqual([false, false])
    },
  )
})
