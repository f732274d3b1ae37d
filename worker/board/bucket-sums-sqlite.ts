// The 256 bucket sums, held in memory and written once a turn: a message of a thousand records
// must not write a thousand rows of sums as well, since rows are what the platform charges for.

import type { Sql } from './sql.ts'
import { BUCKETS, EMPTY_HASH, toggleHash } from './wire.ts'

export function bucketSums(sql: Sql) {
  let sums: string[] | undefined
  const changed = new Set<number>()

  const load = (): string[] => {
    if (sums) return sums
    sums = new Array<string>(BUCKETS).fill(EMPTY_HASH)
    for (const row of sql.all<{ n: number; sum: string }>('SELECT n, sum FROM buckets')) {
      sums[row.n] = row.sum
    }
    return sums
  }

  return {
    all: (): readonly string[] => load(),
    toggle(n: number, hash: string) {
      const known = load()
      known[n] = toggleHash(known[n] ?? EMPTY_HASH, hash)
      changed.add(n)
    },
    write() {
      for (const n of changed) {
        sql.all('INSERT OR REPLACE INTO buckets (n, sum) VALUES (?, ?)', n, load()[n] ?? EMPTY_HASH)
      }
      changed.clear()
    },
    /** After a turn that was rolled back: what is in memory never happened. */
    forget() {
      sums = undefined
      changed.clear()
    },
  }
}
