// What distinguishes two states of a file without reading it.

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

const isRacy = (stat: FileStat, now: number): boolean => now - youngest(stat) < RACY_MS

/** `now`: when the file was looked at. */
export function seen(stat: FileStat, now: number): SeenStat {
  const { size, mtimeMs, ctimeMs, ino } = stat
  return { size, mtimeMs, ctimeMs, ino, isRacy: isRacy(stat, now) }
}
