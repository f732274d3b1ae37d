// The read endpoints, conditionally: of each route one request in flight, at most one more waiting.

import type { Edge } from './edge.ts'
import { BoardError } from './types.ts'

export type Found =
  /** `tag` is another one when the value is. */
  | { state: 'found'; tag: string; value: unknown }
  | { state: 'absent' }
  /** No sidecar has published this repository yet. */
  | { state: 'unpublished' }

interface Flight {
  next?: Promise<Found>
  again?: () => void
}

/** Bodies and outputs are up to half a megabyte each. */
const MOST_KEPT = 32

export class Reads {
  readonly #edge: Edge
  readonly #controllers = new Set<AbortController>()
  readonly #flights = new Map<string, Flight>()
  /** The one read last stands last. */
  readonly #kept = new Map<string, Found & { state: 'found' }>()
  #untagged = 0

  constructor(edge: Edge) {
    this.#edge = edge
  }

  /** What is there at or after the time of this call. Rejects with a BoardError. */
  read(route: string): Promise<Found> {
    const flight = this.#flights.get(route)
    if (!flight) return this.#fly(route)
    // The one in flight may have read before whatever made us ask.
    flight.next ??= new Promise((resolve) => {
      flight.again = () => resolve(this.#fly(route))
    })
    return flight.next
  }

  /** Gives up what is in flight. */
  close(): void {
    for (const controller of this.#controllers) controller.abort()
  }

  #fly(route: string): Promise<Found> {
    const flight: Flight = {}
    this.#flights.set(route, flight)
    const land = () => {
      this.#flights.delete(route)
      flight.again?.()
    }
    const found = this.#ask(route)
    found.then(land, land)
    return found
  }

  async #ask(route: string): Promise<Found> {
    const kept = this.#kept.get(route)
    const controller = new AbortController()
    this.#controllers.add(controller)
    try {
      const { response } = await this.#edge.send(route, {
        headers: { Accept: 'application/json', ...(kept && { 'If-None-Match': kept.tag }) },
        controller,
      })
      if (response.status === 304 && kept) return this.#keep(route, kept)
      const value: unknown = await jsonOf(response)
      const tag = response.headers.get('ETag') ?? `untagged-${this.#untagged++}`
      return this.#keep(route, { state: 'found', tag, value })
    } catch (error) {
      if (!(error instanceof BoardError) || error.status !== 404) throw error
      if (error.code === 'unknown_repository') return { state: 'unpublished' }
      if (error.code !== 'unknown_task') throw error
      this.#kept.delete(route)
      return { state: 'absent' }
    } finally {
      this.#controllers.delete(controller)
    }
  }

  #keep(route: string, found: Found & { state: 'found' }): Found {
    this.#kept.delete(route)
    this.#kept.set(route, found)
    for (const [oldest] of this.#kept) {
      if (this.#kept.size <= MOST_KEPT) break
      this.#kept.delete(oldest)
    }
    return found
  }
}

/** An answer that breaks off is one that never came. */
async function jsonOf(response: Response): Promise<unknown> {
  try {
    return await response.json()
  } catch (error) {
    throw new BoardError(0, 'unreachable', String(error))
  }
}
