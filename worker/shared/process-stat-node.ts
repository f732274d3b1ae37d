// What the kernel says of a process.

import { readFileSync } from 'node:fs'
import { errorCode } from './file-errors.ts'

/** Whether there is one of this number. */
export function processExists(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // It lives, and belongs to somebody else.
    return errorCode(error) === 'EPERM'
  }
}

/** Undefined: there is none, or the system does not say. */
export function processStat(pid: number) {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The name is in brackets, and may hold spaces and brackets.
    const end = text.lastIndexOf(')')
    const fields = text.slice(end + 2).split(' ')
    const [state = '', parent] = fields
    return {
      name: text.slice(text.indexOf('(') + 1, end),
      state,
      parent: Number(parent),
      /** Its own, and of children that it has waited for: in user mode, and in the kernel. */
      ticks: fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0),
      startedAt: fields[19] ?? '',
    }
  } catch {
    return undefined
  }
}
