// Preloaded into each process of a machine whose clock a fault moves: by as many ms as a file says,
// and a process on a machine of its own by some more.
// Only what reads the clock; timers count from the start of the process, as on any machine.

import { readFileSync } from 'node:fs'

const READ_EVERY_MS = 20
const { MOVED_CLOCK_FILE: file, MOVED_CLOCK_APART_MS = '0' } = globalThis.process.env
const apartMs = Number(MOVED_CLOCK_APART_MS)
const RealDate = Date
const realNow = Date.now
let readAt = Number.NEGATIVE_INFINITY
let movedMs = 0

function now() {
  if (performance.now() - readAt > READ_EVERY_MS) {
    readAt = performance.now()
    try {
      // Empty: it is being written.
      movedMs = Number(readFileSync(file, 'utf8') || movedMs)
    } catch {
      // There is no such file yet.
    }
  }
  return realNow() + movedMs + apartMs
}

RealDate.now = now
globalThis.Date = new Proxy(RealDate, {
  construct: (target, args, as) => Reflect.construct(target, args.length > 0 ? args : [now()], as),
})
