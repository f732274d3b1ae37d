// When this person last looked at what happened on a board: kept in this browser, by the clock of
// the edge, whose rows it is compared with. Pure.

export interface Looked {
  /** All before this was seen (ISO 8601); undefined: nothing was. */
  from?: string | undefined
  /** The newest row that was shown. */
  to?: string | undefined
  /** When the page showed it, in ms of this browser. */
  at: number
}

/** A reload, or a second look a moment later, is the same look. */
const SAME_LOOK_MS = 10 * 60_000

/** The look that begins now. */
export const lookAgain = (before: Looked | undefined, now: number): Looked =>
  before && now - before.at < SAME_LOOK_MS ? before : { from: before?.to, to: before?.to, at: now }

/** What was kept; anything else that is there is as nothing. */
export function parseLooked(text: string | null): Looked | undefined {
  try {
    const { from, to, at } = JSON.parse(text ?? 'null') ?? {}
    return typeof at === 'number' ? { from, to, at } : undefined
  } catch {
    return undefined
  }
}
