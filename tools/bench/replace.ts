// The process that replaces many tasks of a board as fast as one can, at each message of watch.ts.

import { saveTask } from './board.ts'

export interface ReplaceOrder {
  dir: string
  tasks: readonly number[]
  rank: number
}

process.on('message', ({ dir, tasks, rank }: ReplaceOrder) => {
  for (const n of tasks) saveTask({ dir }, n, { rank })
  process.send?.('written')
})
process.on('disconnect', () => process.exit())
process.send?.('ready')
