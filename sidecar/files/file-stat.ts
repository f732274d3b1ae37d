// What tells two states of a file apart without reading it. Pure; shared by all that look at files.

export interface FileStat {
  size: number
  mtimeMs: number
  ctimeMs: number
  ino: number
}

/** The stat of a file, and whether it can be trusted. */
export interface SeenStat extends FileStat {
  /** Looked at so soon after a write that another one may hide behind the same stat. */
  isRacy: boolean
}

/** A file younger than this may be written again within one tick of its clock. */
const RACY_MS = 2_000

export const youngest = (stat: FileStat): number => Math.max(stat.mtimeMs, stat.ctimeMs)

export const isRacy = (stat: FileStat, now: number): boolean => now - youngest(stat) < RACY_MS
