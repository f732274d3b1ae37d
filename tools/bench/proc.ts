// CPU time and memory of processes, from /proc.

import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

/** Linux counts CPU time in hundredths of a second, on every machine. */
const TICK_MS = 10

/** `VmRSS`: what is resident. `VmHWM`: the most that was. `Pss`: shared pages count in part. */
export function mebibytesOf(pid: number, what: 'VmRSS' | 'VmHWM' | 'Pss'): number {
  const file = what === 'Pss' ? 'smaps_rollup' : 'status'
  const text = readFileSync(`/proc/${pid}/${file}`, 'utf8')
  return Number(new RegExp(`^${what}:\\s+(\\d+) kB$`, 'm').exec(text)?.[1]) / 1_024
}

/** The CPU time of a process so far, in user and kernel mode, ± 10 ms. */
export function cpuMsOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  // The name is in brackets and may contain spaces. utime and stime are the 12th and 13th field
  // after it.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS
}

/** What a process takes of a core for so long, in percent. */
export async function coreOf(pid: number, forMs: number): Promise<number> {
  const [startedAt, before] = [performance.now(), cpuMsOf(pid)]
  await sleep(forMs)
  return ((cpuMsOf(pid) - before) / (performance.now() - startedAt)) * 100
}

export function childrenOf(pid: number): { pid: number; command: string }[] {
  const pids = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')
  return pids.filter(Boolean).map((child) => ({
    pid: Number(child),
    command: readFileSync(`/proc/${child}/cmdline`, 'utf8').replaceAll('\0', ' '),
  }))
}
