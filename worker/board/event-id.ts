// Event ids: `<epoch>-<seq>`. The epoch names one life of a repository's change log (a new log has
// a new epoch, so that an old id is never mistaken for a place in it), the seq a message in it.

export interface EventId {
  epoch: string
  seq: number
}

export const formatEventId = (id: EventId): string => `${id.epoch}-${id.seq}`

/** Undefined for anything that this product never sent: the reader is then treated as too old. */
export function parseEventId(text: string): EventId | undefined {
  const match = /^([0-9a-z]{1,32})-(0|[1-9][0-9]{0,15})$/.exec(text)
  if (!match?.[1] || !match[2]) return undefined
  const seq = Number(match[2])
  return Number.isSafeInteger(seq) ? { epoch: match[1], seq } : undefined
}
