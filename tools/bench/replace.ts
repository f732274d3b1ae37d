// The writer process of the burst: replaces many tasks of a board as fast as one process can.
// Forked by burst.ts, which starts each burst by a message.

import { boardIn, saveTask } from './board.ts'

export interface ReplaceOrder {
  dir: string
  size: number
  /** The first task, and how many from there on; past the last one it goes on at the first. */
  from: number
  count: number
  rank: number
}

process.on('message', (order: ReplaceOrder) => {
  const board = boardIn(order.dir, order.size)
  for (let i = 0; i < order.count; i++) saveTask(board, (order.from + i) % board.size, order.rank)
  process.send?.('written')
})
process.on('disconnect', () => process.exit())
process.send?.('ready')
