// What a lead has set for the board: whether tasks are handed out, and to how many.

import { type BoardSettings, settingTexts } from '../../worker/shared/board-settings.ts'
import type { Live } from '../data/live.ts'
import { useRead } from '../data/use-read.ts'

/** Empty: no limits, or they are not known. Read again when the configuration may have changed. */
export function useLimits(live: Live): readonly string[] {
  const changed = live.signals.value.find(({ message }) => message.type === 'tasks-changed')
  const state = live.state.value
  // While there was no stream, a message may have been missed.
  const since = state.name === 'live' ? state.since : undefined
  const query = new URLSearchParams({ path: live.path })
  const settings = useRead<BoardSettings>(`/api/board-settings?${query}`, [changed?.id, since])
  return typeof settings === 'object' ? settingTexts(settings) : []
}
