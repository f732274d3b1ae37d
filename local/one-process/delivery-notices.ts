// Says at the terminal when the shop's endpoint does not take its events, and when it does again:
// without that, a wrong port looks like a payment that went well.

import type { Log } from '../../worker/shared/log.ts'

/** Takes what the edge logs. `url`: where events are posted to. */
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
