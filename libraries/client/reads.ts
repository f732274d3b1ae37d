// Reads endpoints with conditional requests. Each route has at most one request in flight and one
// that waits.

import type { Edge } from './requests.ts'
import { BoardError } from './types.ts'

export interface Found {
  state: 'found'
  /** Changes whenever the value does. */
  tag: string
  value: unknown
  /** When this value was asked for first, in ms. */
  sentAt: number
  /** Id of a change: the value has it, and all before it. Undefined: the edge did not say. */
  seq: string | undefined
}

export type ReadResult =
  | Found
  | { state: 'absent' }
  /** No sidecar has published this repository yet. */
  | { state: 'unpublished' }

interface InFlight {
  /** The result of the request that waits for this one. */
  next?: Promise<ReadResult>
  startNext?: () => void
}

/** Bounded, since the body of a task and the output of a run can be half a megabyte each. */
const MAX_CACHED = 32

export class Reads {
  readonly #edge: Edge
  readonly #controllers = new Set<AbortController>()
  readonly #inFlight = new Map<string, InFlight>()
  /** By route. The most recently read is last. */
  readonly #cache = new Map<string, Found>()
  #untagged = 0

  constructor(edge: Edge) {
    this.#edge = edge
  }

  /**
   * The value at the time of this call or later, or what changed of it `since` the change with this
   * id. Rejects with a BoardError.
   */
  read(route: string, since?: string): Promise<ReadResult> {
    const current = this.#inFlight.get(route)
    if (!current) return this.#start(route, since)
    // The request in flight may have read the value before the change that caused this call.
    current.next ??= new Promise((resolve) => {
      current.startNext = () => resolve(this.#start(route, since))
    })
    return current.next
  }

  /** Aborts all requests in flight. */
  close(): void {
    for (const controller of this.#controllers) controller.abort()
  }

  #start(route: string, since: string | undefined): Promise<ReadResult> {
    const current: InFlight = {}
    this.#inFlight.set(route, current)
    const finish = () => {
      this.#inFlight.delete(route)
      current.startNext?.()
    }
    const result = this.#request(route, since)
    result.then(finish, finish)
    return result
  }

  async #request(route: string, since: string | undefined): Promise<ReadResult> {
    const cached = since === undefined ? this.#cache.get(route) : undefined
    const controller = new AbortController()
    this.#controllers.add(controller)
    try {
      const { response, sentAt } = await this.#edge.send(route, {
        headers: { Accept: 'application/json', ...(cached && { 'If-None-Match': cached.tag }) },
        query: { since },
        controller,
      })
      const seq = response.headers.get('X-Signalbox-Seq') ?? undefined
      if (response.status === 304 && cached) return this.#store(route, { ...cached, seq })
      const value: unknown = await jsonOf(response)
      const tag = response.headers.get('ETag') ?? `untagged-${this.#untagged++}`
      const found: Found = { state: 'found', tag, value, sentAt, seq }
      return since === undefined ? this.#store(route, found) : found
    } catch (error) {
      if (!(error instanceof BoardError) || error.status !== 404) throw error
      if (error.code === 'unknown_repository') return { state: 'unpublished' }
      if (error.code !== 'unknown_task') throw error
      this.#cache.delete(route)
      return { state: 'absent' }
    } finally {
      this.#controllers.delete(controller)
    }
  }

  #store(route: string, result: Found): ReadResult {
    this.#cache.delete(route)
    this.#cache.set(route, result)
    for (const [oldest] of this.#cache) {
      if (this.#cache.size <= MAX_CACHED) break
      this.#cache.delete(oldest)
    }
    return result
  }
}

/** A response that breaks off counts as no response. */
async function jsonOf(response: Response): Promise<unknown> {
  try {
    return await response.json()
  } catch (error) {
    throw new BoardError(0, 'unreachable', String(error))
  }
}
