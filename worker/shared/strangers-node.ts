// Connections whose request has no token have a share of the descriptors. Each may send a byte
// every few seconds: 600 such left none for webhooks. When the share is used up, the one that has
// been waited for longest makes room, so that who sends a whole request is always answered.

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Metrics } from './metrics.ts'

/** What is counted about connections of this process. */
export const connectionMetrics = (metrics: Metrics) => ({
  strangers: metrics.gauge(
    'signalbox_unauthenticated_connections',
    'Connections without a request that has a token, of webhooks too.',
    {},
  ),
  cut: metrics.counter(
    'signalbox_unauthenticated_connections_cut_total',
    'Such connections that were cut: the share was full, or a body was not there in time.',
    { reason: ['full', 'slow'] as const },
  ),
})

export type ConnectionMetrics = ReturnType<typeof connectionMetrics>

interface Exchange {
  incoming: Pick<IncomingMessage, 'complete'>
  outgoing: Pick<ServerResponse, 'writableEnded'>
}

/** `max`: of all together. One more is let in where we work on the requests of all others. */
export class Strangers {
  readonly #max: number
  readonly #metrics: ConnectionMetrics | undefined
  /** In the order in which they began to wait for their clients. */
  readonly #all = new Map<Pick<Socket, 'destroy'>, Exchange | undefined>()

  constructor(max: number, metrics?: ConnectionMetrics) {
    this.#max = max
    this.#metrics = metrics
  }

  /** It is open, a request of it begins (`exchange`), or one is answered. */
  waits(socket: Pick<Socket, 'destroy'>, exchange?: Exchange): void {
    this.#all.delete(socket)
    this.#all.set(socket, exchange)
    if (this.#all.size > this.#max) this.#makeRoom(socket)
    this.#count()
  }

  /** Its request has a token, or it is closed. */
  leaves(socket: Pick<Socket, 'destroy'>): void {
    this.#all.delete(socket)
    this.#count()
  }

  #makeRoom(newest: Pick<Socket, 'destroy'>): void {
    for (const [socket, exchange] of this.#all) {
      if (socket === newest || isWorkedOn(exchange)) continue
      this.#all.delete(socket)
      this.#metrics?.cut.add({ reason: 'full' })
      socket.destroy()
      return
    }
  }

  #count(): void {
    this.#metrics?.strangers.set({}, this.#all.size)
  }
}

/** All of the request is here, and its answer is not ready. */
const isWorkedOn = (exchange: Exchange | undefined): boolean =>
  exchange?.incoming.complete === true && !exchange.outgoing.writableEnded
