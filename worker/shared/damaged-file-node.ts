// A database file that is damaged makes room for a new one. It is kept, so that somebody can look
// at it; one of before is replaced, or a disk that writes wrongly would fill.

import { renameSync, rmSync } from 'node:fs'
import { errorCode } from './file-errors.ts'

const PARTS = ['', '-wal']

/** Nobody may have it open. The file's new name. */
export function moveAside(file: string): string {
  const aside = `${file}.damaged`
  for (const part of PARTS) {
    rmSync(`${aside}${part}`, { force: true })
    try {
      renameSync(`${file}${part}`, `${aside}${part}`)
    } catch (error) {
      if (errorCode(error) !== 'ENOENT') throw error
    }
  }
  // It is made of the other two.
  rmSync(`${file}-shm`, { force: true })
  return aside
}
