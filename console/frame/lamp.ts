// The lamp for the state of the stream. Green only if the data is that of the board's folder. Pure.

import type { BoardState } from '../../client/index.ts'
import { timeOf } from '../ui/time-text.ts'
import { frameWords } from './words.ts'

export type Lamp = 'go' | 'caution' | 'stop'

export interface LampStatus {
  lamp: Lamp
  text: string
  hint?: string
}

/** Most breaks are shorter: only a longer one is shown as stale. */
const STALE_AFTER_MS = 10_000

/** `now` in ms. */
export function lampOf(state: BoardState, now: number): LampStatus {
  const { connection } = frameWords
  switch (state.name) {
    case 'connecting':
      return {
        lamp: 'caution',
        text: connection.connecting,
        ...(state.reason && { hint: connection.reasons[state.reason] }),
      }
    case 'live':
      return { lamp: 'go', text: connection.live, hint: connection.liveHint }
    case 'stale':
      return state.reason === 'missing'
        ? { lamp: 'stop', text: connection.boardMissing, hint: connection.storeMissing }
        : {
            lamp: 'stop',
            text: connection.stale(timeOf(state.currentAt, now)),
            hint: connection.offlineHint,
          }
    case 'reconnecting': {
      const { currentAt } = state
      if (currentAt === undefined || now - currentAt < STALE_AFTER_MS) {
        return {
          lamp: 'caution',
          text: connection.reconnecting,
          hint: connection.reasons[state.reason],
        }
      }
      const text = connection.stale(timeOf(currentAt, now))
      return { lamp: 'stop', text, hint: connection.staleHint }
    }
    case 'waiting':
      return { lamp: 'caution', text: connection.waiting, hint: connection.waitingHint }
    case 'refused':
      return { lamp: 'stop', text: connection.refused, hint: state.error }
    case 'closed':
      return { lamp: 'stop', text: connection.closed }
  }
}
