// The variables, edge and token of a payments command: from a running system, from a
// file, or from the environment.

import { messageOf } from '../../sidecar/log.ts'
import type { SignalboxFile } from '../../worker/payments/define-config.ts'
import { loadConfig, type World } from '../command.ts'
import { NO_DATA, type RunningStart, runningStart } from '../data-folder.ts'
import { type Settings, UsageError } from '../settings.ts'
import { type EdgeSettings, systemOf } from './running-system.ts'

export interface Place extends EdgeSettings {
  /** signalbox.config.ts */
  file: SignalboxFile
}

/** `here`: used where no other is named. Throws UsageError for files that cannot be read. */
export async function readPlace(
  settings: Settings,
  world: World,
  here?: RunningStart,
): Promise<Place> {
  const file = await loadConfig(settings, world)
  const start = here ?? (await runningStart(settings))
  if (start) return { file, ...systemOf(start, file, world.env) }
  settings.needless(['trust-data'], NO_DATA)
  if (settings.text('edge') === undefined) settings.needless(['token-file'], 'without --edge')
  return {
    file,
    env: await settings.variables(),
    edge: settings.url('edge', false)?.href.replace(/\/+$/, ''),
    token: await readToken(settings),
    differing: [],
  }
}

async function readToken(settings: Settings): Promise<string | undefined> {
  try {
    return await settings.token()?.()
  } catch (error) {
    throw new UsageError(`The access token cannot be read: ${messageOf(error)}.`)
  }
}
