// The lamps: for the stream, the sidecar, and the payments. Green only if what is shown is
// certainly current. Pure.

import type { BoardStatus, ListedBoard } from '../../libraries/api/types.ts'
import type { BoardState, LostReason } from '../../libraries/client/index.ts'
import { NO_ANSWER, problemText } from '../data/http.ts'
import type { Freshness } from '../data/poller.ts'
import { ago, LOADING, timeOf } from '../ui/format.ts'

export type Lamp = 'go' | 'caution' | 'stop'

export interface LampStatus {
  lamp: Lamp
  text: string
  hint?: string
}

/** Most breaks are shorter: only a longer one is shown as stale. */
const STALE_AFTER_MS = 10_000

const REASONS = {
  unreachable: NO_ANSWER,
  failing: 'The edge answers with errors.',
  ended: 'The edge ended the stream. This is normal from time to time.',
  silent: 'The connection was lost.',
  hidden: 'This page was hidden, and reads the board again.',
  token: 'The page could not get a token.',
  behind: 'Something changed, and loading it takes longer than it should.',
} satisfies Record<LostReason, string>

const FOLDER_MISSING =
  'The folder of the board is missing on its machine. The page shows its last known state.'

const UNWATCHED =
  'The watcher of the sidecar has failed. Changes are found by scans, each second or later.'

/** The lamp of the stream. `now` in ms. `reading`: how far a first publication is. */
export function lampOf(
  state: BoardState,
  now: number,
  reading?: BoardStatus['reading'],
): LampStatus {
  switch (state.name) {
    case 'connecting':
      return {
        lamp: 'caution',
        text: 'Connecting…',
        ...(state.reason && { hint: REASONS[state.reason] }),
      }
    case 'live':
      return state.unwatched
        ? { lamp: 'caution', text: 'Live, a little late', hint: UNWATCHED }
        : { lamp: 'go', text: 'Live', hint: 'The page shows the current state of the edge.' }
    case 'stale':
      return state.reason === 'missing'
        ? { lamp: 'stop', text: 'The folder is missing', hint: FOLDER_MISSING }
        : {
            lamp: 'stop',
            text: `The files' side is offline since ${timeOf(state.currentAt, now)}`,
            hint: 'The sidecar was killed, or is cut off. What changed since is missing here.',
          }
    case 'reconnecting': {
      const { currentAt, reason } = state
      return currentAt === undefined || now - currentAt < STALE_AFTER_MS
        ? { lamp: 'caution', text: 'Reconnecting…', hint: REASONS[reason] }
        : staleLamp(
            currentAt,
            now,
            'The page shows the state of that time. It is updated as soon as the edge answers.',
          )
    }
    case 'waiting':
      if (reading) {
        const percent = Math.floor((100 * reading.done) / reading.total)
        return { lamp: 'caution', text: `Being read: ${percent} %` }
      }
      return {
        lamp: 'caution',
        text: 'Waiting for a sidecar',
        hint: 'No sidecar has published this repository yet.',
      }
    case 'refused':
      return { lamp: 'stop', text: 'Refused', hint: state.error }
    case 'closed':
      return { lamp: 'stop', text: 'Closed' }
  }
}

const staleLamp = (since: number, now: number, hint: string): LampStatus => {
  return { lamp: 'stop', text: `Stale since ${timeOf(since, now)}`, hint }
}

/** The lamp of the sidecar. `now` in ms. `isReading`: it publishes for the first time. */
export function sidecarLamp(state: BoardState, now: number, isReading = false): LampStatus {
  switch (state.name) {
    case 'live':
      return state.unwatched
        ? { lamp: 'caution', text: 'cannot watch, looks at the files again and again' }
        : { lamp: 'go', text: `synced ${ago(state.currentAt, now)}` }
    case 'stale':
      return state.reason === 'missing'
        ? { lamp: 'stop', text: 'sees no folder' }
        : { lamp: 'stop', text: 'offline' }
    case 'waiting':
      return { lamp: 'caution', text: isReading ? 'reads the files' : 'never seen' }
    default:
      return { lamp: 'caution', text: '…' }
  }
}

/**
 * The lamp of a listed board; undefined: nothing is wrong. `shown`: the state of its stream,
 * if it is the one on the page. The list is up to 30 s behind, and would contradict the lamp in the
 * header. `now` in ms.
 */
export function boardLamp(
  { store, sidecar }: ListedBoard,
  now: number,
  shown?: BoardState,
): LampStatus | undefined {
  const seen = timeOf(Date.parse(sidecar.lastSeenAt), now)
  if (shown?.name === 'live') return undefined
  const isMissing = shown?.name === 'stale' && shown.reason === 'missing'
  if (isMissing || store === 'missing') return { lamp: 'stop', text: 'Its folder is missing' }
  switch (sidecar.state) {
    case 'running':
      return undefined
    case 'ended':
      return { lamp: 'caution', text: `Its sidecar ended: ${seen}` }
    case 'offline':
      return { lamp: 'stop', text: `Its sidecar is offline since ${seen}` }
  }
}

/** Two rounds and a slow response. Computed from the time, since browsers may delay timers. */
const LATE_MS = 15_000

/** The lamp of the payments. `now` in ms. */
export function freshnessLamp(freshness: Freshness, now: number): LampStatus {
  switch (freshness.name) {
    case 'loading':
      return { lamp: 'caution', text: LOADING }
    case 'current': {
      const { asOf } = freshness
      const text = `As of ${timeOf(asOf, now)}`
      return now - asOf > LATE_MS
        ? { lamp: 'caution', text, hint: 'The update takes longer than it should.' }
        : { lamp: 'go', text, hint: 'Updated every five seconds while the page is visible.' }
    }
    case 'unreachable': {
      const { asOf, problem } = freshness
      const text = asOf === undefined ? 'Not loaded' : `Not updated since ${timeOf(asOf, now)}`
      return { lamp: 'stop', text, hint: problemText(problem) }
    }
  }
}
