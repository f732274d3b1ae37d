// What the checks of a doctor found, and how it is printed.

import { jsonText, printable } from '../../worker/shared/printable.ts'
import type { RunningStart } from '../running-system.ts'

export interface Finding {
  level: 'ok' | 'warn' | 'error'
  /** What was checked: `board`, `edge`, `clock`, a gateway's key, … */
  about: string
  sentence: string
}

type Find = (about: string, sentence: string) => Finding

export const ok: Find = (about, sentence) => ({ level: 'ok', about, sentence })
export const warn: Find = (about, sentence) => ({ level: 'warn', about, sentence })
export const error: Find = (about, sentence) => ({ level: 'error', about, sentence })

/** Precedes the findings about a running system that was found, and not named. */
export const takenFrom = ({ dir }: RunningStart): Finding =>
  ok('system', `Edge, token and variables are those of the running signalbox of ${dir}.`)

/** For an edge that was not named. */
export const NO_EDGE = 'Not checked: name one with --edge or --data.'

/** Prints one line each, or one JSON object. Returns the exit code: 1 if there is an error. */
export function report(
  findings: readonly Finding[],
  isJson: boolean | undefined,
  io: { out(text: string): void },
): number {
  const isHealthy = findings.every(({ level }) => level !== 'error')
  io.out(isJson ? `${jsonText({ ok: isHealthy, findings })}\n` : lines(findings))
  return isHealthy ? 0 : 1
}

function lines(findings: readonly Finding[]): string {
  const width = Math.max(...findings.map(({ about }) => about.length))
  return findings
    .map(
      ({ level, about, sentence }) =>
        `${level.padEnd(5)}  ${about.padEnd(width)}  ${printable(sentence)}\n`,
    )
    .join('')
}

/** A finding names so many files or columns; hundreds would hide the other findings. */
const MAX_NAMED = 5

export function some(all: readonly string[]): string {
  const more = all.length > MAX_NAMED ? `, and ${all.length - MAX_NAMED} more` : ''
  return `${all.slice(0, MAX_NAMED).join(', ')}${more}`
}
