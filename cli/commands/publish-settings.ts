// What `watch` and `sync` have in common: their settings, and what stands before a sidecar.

import { RUN_OUTPUTS, type RunOutput } from '../../sidecar/board/published-run.ts'
import type { Store } from '../../sidecar/layouts/layout.ts'
import { openStore, StoreError } from '../../sidecar/layouts/registry.ts'
import { createLog, type Log, type LogFormat } from '../../sidecar/log.ts'
import { EdgeHttp } from '../../sidecar/publish/edge-http.ts'
import { type Settings, UsageError, VERSION } from '../settings.ts'
import type { Io } from './command.ts'

const FORMATS: readonly LogFormat[] = ['json', 'pretty']

export interface Publishing {
  dir: string
  edge: EdgeHttp
  cacheDir: string
  runOutput: RunOutput
  log: Log
  version: string
  terminal?: (text: string) => void
}

/** Reads what both commands need; `more` reads the rest before everything is checked at once. */
export function readPublishing<T>(
  settings: Settings,
  io: Io,
  more: (settings: Settings) => T,
): Publishing & T {
  const dir = settings.dir()
  const url = settings.url('edge')
  const repo = settings.required('repo')
  const token = settings.token()
  const cacheDir = settings.cacheDir()
  const runOutput = settings.choice('run-output', RUN_OUTPUTS) ?? 'masked'
  const format = settings.choice('log', FORMATS) ?? (io.isTerminal ? 'pretty' : 'json')
  const rest = more(settings)
  settings.check()
  if (!url || !token) throw new UsageError('missing: an edge and a token.')
  const log = createLog(format, io.err, settings.has('verbose') ? 'debug' : 'info')
  if (!isPrivate(url)) log('warn', 'edge.not_encrypted', { edge: url.origin })
  return {
    dir,
    edge: new EdgeHttp({ url, repo, token }),
    cacheDir,
    runOutput,
    log,
    version: VERSION,
    ...(io.isTerminal && format === 'pretty' && { terminal: io.err }),
    ...rest,
  }
}

/** Over plain http the token can be read on the way, unless it stays on this machine. */
export const isPrivate = (url: URL): boolean =>
  url.protocol === 'https:' || /^(localhost|127\.[\d.]+|\[::1\])$/.test(url.hostname)

/** Throws UsageError when there is no board. */
export async function storeIn(dir: string): Promise<Store> {
  try {
    return await openStore(dir)
  } catch (error) {
    if (error instanceof StoreError) throw new UsageError(error.message)
    throw error
  }
}
