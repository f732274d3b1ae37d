// The log of a run in the cairn layout: a few header lines, `----`, the output.

import { defined } from '../../worker/shared/json.ts'
import type { Entry } from './layout.ts'

/** `<task id>-YYYYMMDD-HHMMSS.mmm.log`; an id may hold dashes itself. */
export const RUN_NAME = /^([A-Za-z0-9_-]+)-(\d{8})-(\d{6}\.\d{3})\.log$/

const EXIT = /^exit: (-?\d+) {2}timedout: (true|false) {2}duration: (.*)$/m
const BREAK = /\r?\n----(?:\r?\n|$)/
/** The header is in the first lines. Further below, a `----` may belong to the output. */
const HEADER_CHARS = 64 << 10

/** The output is whole, as the program printed it: its size is known only now. */
export function parseRun(file: string, text: string): Entry {
  const top = text.slice(0, HEADER_CHARS).replaceAll('\0', '\ufffd')
  const end = BREAK.exec(top)
  const header = end ? top.slice(0, end.index).replaceAll('\r\n', '\n') : ''
  const exit = EXIT.exec(header)
  if (!end || !exit) {
    return runEntry(file, {
      timedout: false,
      output: text,
      invalid: 'The log does not begin with the lines of a run; all of it is shown as output.',
    })
  }
  return runEntry(file, {
    cmd: headerValue(header, 'cmd'),
    cwd: headerValue(header, 'cwd'),
    head: headerValue(header, 'head'),
    exit: Number(exit[1]),
    timedout: exit[2] === 'true',
    duration: exit[3] || undefined,
    output: text.slice(end.index + end[0].length),
  })
}

interface RunFields {
  cmd?: string | undefined
  cwd?: string | undefined
  head?: string | undefined
  exit?: number
  timedout: boolean
  duration?: string | undefined
  output?: string
  invalid?: string
}

export function runEntry(file: string, fields: RunFields): Entry {
  const [, task = '', date = '', time = ''] = RUN_NAME.exec(file) ?? []
  const run = defined({ file, at: stampTime(date, time), ...fields })
  return { kind: 'run', id: file, task, run }
}

/** A value runs on until the next known line: a command may hold line breaks. */
function headerValue(header: string, key: string): string | undefined {
  const start = `\n${header}`.indexOf(`\n${key}: `)
  if (start < 0) return undefined
  const value = header.slice(start + key.length + 2)
  const next = value.search(/\n(?:cmd|cwd|head|exit): /)
  return (next < 0 ? value : value.slice(0, next)) || undefined
}

function stampTime(date: string, time: string): string | undefined {
  const [, year, month, day] = /^(\d{4})(\d\d)(\d\d)$/.exec(date) ?? []
  const [, hour, minute, second] = /^(\d\d)(\d\d)(\d\d\.\d{3})$/.exec(time) ?? []
  const at = `${year}-${month}-${day}T${hour}:${minute}:${second}Z`
  return Number.isNaN(Date.parse(at)) ? undefined : at
}
