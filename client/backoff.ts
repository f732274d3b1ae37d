// How long to wait before the next try. Pure.

const BASE_MS = 1_000
const MOST_MS = 30_000

/** After `failures` in a row. Half of it is chance: clients that fell together rise apart. */
export const backoffMs = (failures: number, random: () => number): number =>
  Math.min(MOST_MS, BASE_MS * 2 ** Math.max(0, failures - 1)) * (0.5 + random() / 2)
