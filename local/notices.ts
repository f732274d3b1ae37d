// The sentences at the terminal about a running system.

import type { Log } from '../worker/shared/log.ts'

/** Takes what a sidecar logs, and says when the board's folder goes away and when it is back. */
export function storeNotices(
  notice: (sentence: string) => void,
): (event: string, fields: Readonly<Record<string, unknown>>) => void {
  let isThere = true
  return (event, { root, dir, why }) => {
    if (!/^store\.(missing|awaited|unreadable|present)$/.test(event)) return
    // A sidecar that was started again logs once more what is known.
    if (isThere === (event === 'store.present')) return
    isThere = !isThere
    const board = `The board in ${root ?? dir}`
    if (isThere) notice(`${board} is back.`)
    else if (event === 'store.unreadable') notice(`${board} cannot be read whole: ${why}.`)
    else notice(`${board} is gone; what was published of it stays.`)
  }
}

/**
 * Takes what the edge logs, and says when the shop's endpoint does not take its events, and when it
 * does again: without that, a wrong port looks like a payment that went well. `url`: where events
 * are posted to.
 */
export function deliveryNotices(url: string, notice: (sentence: string) => void): Log {
  let isTaken = true
  return (_level, event, fields) => {
    if (event === 'payments.delivery.failed' && isTaken) {
      isTaken = false
      const why = fields.status === undefined ? fields.error : `it answered ${fields.status}`
      notice(`${fields.type} was not delivered to ${url} (${why}). It is sent again.`)
    }
    if (event === 'payments.delivery.delivered' && !isTaken) {
      isTaken = true
      notice(`Events are delivered to ${url} again.`)
    }
  }
}
