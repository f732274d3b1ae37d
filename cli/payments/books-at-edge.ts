// The books of an edge, over HTTP, as a comparison asks them.

import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import type { Movement, Settled } from '../../libraries/api/types.ts'
import type { Books } from '../../libraries/settlement/books.ts'

/** A part of 5,000 rows, or a month of movements, takes a while. */
const TIMEOUT_MS = 120_000

export class BooksError extends Error {
  /** Undefined: there was no answer. */
  readonly status: number | undefined

  constructor(message: string, status?: number) {
    super(message)
    this.status = status
  }
}

/** It cannot be asked about, or not now: the difference stays. */
const UNASKED: readonly unknown[] = [409, 422, 503]

interface At {
  edge: string
  token: string
  gateway: string
}

export function booksAtEdge({ edge, token, gateway }: At): Required<Books> {
  const ask = async (path: string, body?: object): Promise<Response> => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const init = { headers, redirect: 'manual' as const, signal: AbortSignal.timeout(TIMEOUT_MS) }
    const sent = body ? { ...init, method: 'POST', body: JSON.stringify(body) } : init
    const response = await fetch(`${edge}/api/payments${path}`, sent).catch((error: unknown) => {
      throw new BooksError(`There is no answer from ${edge}: ${String(error)}`)
    })
    if (response.ok) return response
    const answer = (await response.json().catch(() => ({}))) as { error?: string }
    const why = `${edge} answered ${response.status}: ${answer.error ?? 'no reason'}`
    throw new BooksError(why, response.status)
  }
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
          if (!(error instanceof BooksError && UNASKED.includes(error.status))) throw error
        },
      )
    },
  }
}
