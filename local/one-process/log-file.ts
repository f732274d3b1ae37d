// The log of the one process: lines of JSON from the edge and the sidecar, in one file.

import { createWriteStream } from 'node:fs'
import { createLog, type Log } from '../../sidecar/log.ts'
import { type Log as EdgeLog, lineLog } from '../../worker/shared/log.ts'

export interface LogFile {
  edge: EdgeLog
  sidecar: Log
  close(): Promise<void>
}

export function openLogFile(file: string): LogFile {
  const stream = createWriteStream(file, { flags: 'a', mode: 0o600 })
  // A full disk is no reason to end what is logged.
  stream.on('error', () => undefined)
  const write = (line: string) => void stream.write(line)
  const edge = lineLog((line) => write(`${line}\n`))
  return {
    edge: (level, event, fields) =>
      edge(level, event, { time: new Date().toISOString(), ...fields }),
    sidecar: createLog('json', write),
    close: () => new Promise((resolve) => stream.end(() => resolve())),
  }
}
