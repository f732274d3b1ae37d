// Ends work of ours that takes too long: nothing else of the process goes on meanwhile, no webhook
// and no signal is taken, and no timer of ours could end it.

import { Script } from 'node:vm'
import { errorCode } from '../worker/shared/file-errors.ts'

/** A script is what can have a time limit, and all that it does is to call the work. */
const CALL = new Script("globalThis[Symbol.for('signalbox.work')]()")
const WORK = Symbol.for('signalbox.work')

/**
 * A machine that is busy with other things gives a process a part of its time: work that had not
 * all of it is tried again, each time for twice as long, up to this.
 */
const MAX_MS = 4_000
/** Work that does not end has a little less than its time, also where nothing else runs. */
const ALMOST = 0.9
/** Of this thread alone, where Node knows it: 20 and 22 do not. */
const cpuUsage = (from?: NodeJS.CpuUsage): NodeJS.CpuUsage =>
  process.threadCpuUsage ? process.threadCpuUsage(from) : process.cpuUsage(from)

export class TookTooLong extends Error {
  override readonly name = 'TookTooLong'
}

/**
 * What `work` returns. Throws what it throws, and TookTooLong after `ms`. Then it is ended where it
 * is, without its `finally`, so it must not change what others see. It costs 0.1 ms.
 */
export function inTime<Result>(ms: number, work: () => Result): Result {
  for (let limit = ms; ; limit *= 2) {
    const from = cpuUsage()
    const { stackTraceLimit } = Error
    try {
      Reflect.set(globalThis, WORK, work)
      return CALL.runInThisContext({ timeout: limit }) as Result
    } catch (error) {
      if (errorCode(error) !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error
      // A parser turns it off for a while.
      Error.stackTraceLimit = stackTraceLimit
      const { user, system } = cpuUsage(from)
      const hadItsTime = user + system > ALMOST * ms * 1_000
      if (hadItsTime || limit * 2 > MAX_MS) throw new TookTooLong(`It took over ${ms} ms.`)
    } finally {
      Reflect.deleteProperty(globalThis, WORK)
    }
  }
}
