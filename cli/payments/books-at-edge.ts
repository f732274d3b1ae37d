// The books of an edge, over HTTP, as a comparison asks them.

import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import type { Movement, Settled } from '../../libraries/api/types.ts'
import { BoardError } from '../../libraries/client/types.ts'
import type { Books } from '../../libraries/settlement/ask-edge.ts'
import { answerIn, askEdge, type EdgeAddress, partsOf, requestEdge } from '../request.ts'

/** A part of 5,000 rows, or a month of movements, takes a while. */
const TIMEOUT_MS = 120_000

/** It cannot be asked about, or not now: the difference stays. */
const UNASKED: readonly unknown[] = [409, 422, 503]

/** Each throws BoardError. */
export function booksAtEdge(edge: EdgeAddress, gateway: string): Required<Books> {
  return {
    async settle(rows) {
      const request = { body: { gateway, rows }, timeoutMs: TIMEOUT_MS }
      return (await askEdge<Settled>(edge, '/payments/reconcile', request)).rows
    },
    async *movements(after, before) {
      const query = new URLSearchParams({ gateway, after, before, format: 'jsonl' })
      const request = { timeoutMs: TIMEOUT_MS }
      const answer = await requestEdge(edge, `/payments/movements?${query}`, request)
      const input = Readable.from(partsOf(answer, edge.url))
      for await (const line of createInterface({ input })) {
        const movement = answerIn<Movement | { invalid: string }>(line, answer, edge.url)
        if (!('invalid' in movement)) yield movement
      }
    },
    async check(transactionId) {
      const route = `/payments/transactions/${encodeURIComponent(transactionId)}/check`
      const request = { body: {}, timeoutMs: TIMEOUT_MS }
      await askEdge(edge, route, request).catch((error: unknown) => {
        if (!(error instanceof BoardError && UNASKED.includes(error.status))) throw error
      })
    },
  }
}
