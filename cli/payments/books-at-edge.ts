// The books of an edge, over HTTP, as a comparison asks them.

import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import type { Movement, Settled } from '../../libraries/api/types.ts'
import { BoardError } from '../../libraries/client/types.ts'
import type { Books } from '../../libraries/settlement/books.ts'
import { type EdgeAddress, requestEdge } from '../request.ts'

/** A part of 5,000 rows, or a month of movements, takes a while. */
const TIMEOUT_MS = 120_000

/** It cannot be asked about, or not now: the difference stays. */
const UNASKED: readonly unknown[] = [409, 422, 503]

/** Each throws BoardError. */
export function booksAtEdge(edge: EdgeAddress, gateway: string): Required<Books> {
  const ask = (path: string, body?: object) =>
    requestEdge(edge, `/payments${path}`, { body, timeoutMs: TIMEOUT_MS })
  return {
    async settle(rows) {
      return ((await (await ask('/reconcile', { gateway, rows })).json()) as Settled).rows
    },
    async *movements(after, before) {
      const query = new URLSearchParams({ gateway, after, before, format: 'jsonl' })
      const { body } = await ask(`/movements?${query}`)
      if (!body) return
      const lines = createInterface({ input: Readable.fromWeb(body as never) })
      for await (const line of lines) {
        const movement = JSON.parse(line) as Movement | { invalid: string }
        if (!('invalid' in movement)) yield movement
      }
    },
    async check(transactionId) {
      await ask(`/transactions/${encodeURIComponent(transactionId)}/check`, {}).catch(
        (error: unknown) => {
          if (!(error instanceof BoardError && UNASKED.includes(error.status))) throw error
        },
      )
    },
  }
}
