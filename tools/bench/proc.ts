// CPU time and memory of a process, from /proc.

import { readFileSync } from 'node:fs'

/** Linux counts CPU time in hundredths of a second, on every machine. */
const TICK_MS = 10

export interface Memory {
  rssMiB: number
  /** The peak. */
  peakMiB: number
}

export function memoryOf(pid: number): Memory {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const mebibytes = (name: string) => {
    const [, kibibytes] = new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status) ?? []
    return Number(kibibytes) / 1_024
  }
  return { rssMiB: mebibytes('VmRSS'), peakMiB: mebibytes('VmHWM') }
}

/** Pages that several processes share count for each of them in part, so these can be added up. */
export function ownMiBOf(pid: number): number {
  const smaps = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')
  return Number(/^Pss:\s+(\d+) kB$/m.exec(smaps)?.[1]) / 1_024
}

/** The CPU time of a process so far, in user and kernel mode, ± 10 ms. */
export function cpuMsOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  // The name is in brackets and may contain spaces. utime and stime are the 12th and 13th field
  // after it.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS
}

export function childrenOf(pid: number): { pid: number; command: string }[] {
  const pids = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')
  return pids.filter(Boolean).map((child) => ({
    pid: Number(child),
    command: readFileSync(`/proc/${child}/cmdline`, 'utf8').replaceAll('\0', ' '),
  }))
}
