// What the objects of an edge did, read from what they wrote down.

/** Begins each line of it. */
export const COUNTED = 'counted '

export interface Counts {
  constructions: number
  alarms: number
  /** Written. An alarm that is set is one. */
  rows: number
}

export type Counted = Partial<Counts>

export function countsIn(log: string): Counts {
  const sum = { constructions: 0, alarms: 0, rows: 0 }
  for (const line of log.split('\n')) {
    if (!line.startsWith(COUNTED)) continue
    const { constructions = 0, alarms = 0, rows = 0 } = JSON.parse(line.slice(COUNTED.length))
    sum.constructions += constructions
    sum.alarms += alarms
    sum.rows += rows
  }
  return sum
}
