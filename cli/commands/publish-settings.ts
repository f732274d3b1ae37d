// What `watch` and `sync` have in common: their settings, and the checks before a sidecar.

import { RUN_OUTPUTS, type RunOutput } from '../../sidecar/files/file-reader.ts'
import { createLog, type Log, type LogFormat } from '../../sidecar/log.ts'
import { EdgeHttp } from '../../sidecar/publish/edge-http.ts'
import { isPrivate } from '../../worker/shared/loopback.ts'
import type { Io } from '../command.ts'
import { type Settings, VERSION } from '../settings.ts'

export const LOG_FORMATS: readonly LogFormat[] = ['json', 'pretty']

/** Of a command about one board, as a sentence names it. */
export const BOARD = 'DIR, the folder of the task board'
const TOKEN = 'an access token (SIGNALBOX_TOKEN, --token-file FILE or SIGNALBOX_TOKEN_FILE)'

export interface Publishing {
  dir: string
  followsLinks: boolean
  edge: EdgeHttp
  cacheDir: string | undefined
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
  const dir = settings.positional(BOARD)
  const url = settings.url('edge', true)
  const repo = settings.required('repo')
  const token = settings.token()
  if (!token) settings.missing(TOKEN)
  const cacheDir = settings.cacheDir()
  const runOutput = settings.choice('run-output', RUN_OUTPUTS) ?? 'masked'
  const format = settings.choice('log', LOG_FORMATS) ?? (io.isTerminal ? 'pretty' : 'json')
  const rest = more(settings)
  settings.check()
  if (!url || !token) throw new Error('check() lets neither be missing.')
  const log = createLog(format, io.err, settings.has('verbose') ? 'debug' : 'info')
  if (!isPrivate(url)) log('warn', 'edge.not_encrypted', { edge: url.origin })
  return {
    dir,
    followsLinks: settings.has('follow-links'),
    edge: new EdgeHttp({ url, repo, token }),
    cacheDir,
    runOutput,
    log,
    version: VERSION,
    ...(io.isTerminal && format === 'pretty' && { terminal: io.err }),
    ...rest,
  }
}
