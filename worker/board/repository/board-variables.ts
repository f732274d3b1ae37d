// The variables that each board is opened with, wherever it lives.

import { readSilentAfter, SILENT_AFTER_MS } from '../tasks/task-state.ts'

export interface BoardVariables {
  /** An agent that shows no sign of work for so long is silent. */
  silentAfterMs: number
}

/** What is wrong is added to `wrong`, and has its default. */
export function readBoardVariables(
  env: Readonly<Record<string, unknown>>,
  wrong: string[] = [],
): BoardVariables {
  const silentAfterMs = readSilentAfter(env.SILENT_AFTER)
  if (silentAfterMs === undefined) wrong.push('SILENT_AFTER must be a time like 20m or 2h')
  return { silentAfterMs: silentAfterMs ?? SILENT_AFTER_MS }
}
