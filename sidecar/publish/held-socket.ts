// Shows the edge by a socket that this sidecar is there, in place of reports. It proves nothing
// else: what changes is published over HTTP, and without a socket the reports go on.

import { SOCKET_PING_MS } from '../../worker/board/wire.ts'
import { type Backoff, backoffMs, type Clock } from '../../worker/shared/clock.ts'
import type { Edge, EdgeSocket } from './edge.ts'

const PONG_WITHIN_MS = 10_000
/** While something is not at the edge, a ping would say that all is. */
const LOOK_AGAIN_MS = 5_000
const DIAL: Backoff = { firstMs: 5_000, maxMs: 60_000 }
/** A process may hold 250 boards, and reports show each until its socket is open. */
const SPREAD_MS = 10_000

interface HeldSocketDeps {
  edge: Pick<Edge, 'attach'>
  clock: Clock
  /** The edge has all that this sidecar saw, or will in a moment; or it waits for another one. */
  mayPing(): boolean
  /** `isAgain`: another socket of this run was open before. */
  onOpen(isAgain: boolean): void
  onPong(): void
  /** The sidecar that this one waits for is gone. */
  onFree(): void
  onLost(): void
}

export class HeldSocket {
  readonly #deps: HeldSocketDeps
  #run: number | undefined
  #socket: EdgeSocket | undefined
  isOpen: boolean = false
  #wasOpen: boolean = false
  #failures = 0
  #cancel: () => void = () => undefined

  constructor(deps: HeldSocketDeps) {
    this.#deps = deps
  }

  /** From here on it dials by itself whenever a socket is lost. */
  hold(run: number): void {
    if (this.#run === run || !this.#deps.edge.attach) return
    this.close()
    this.#run = run
    this.#after(SPREAD_MS * this.#deps.clock.random(), () => this.#dial())
  }

  close(): void {
    this.#drop()
    this.#run = undefined
    this.#wasOpen = false
    this.#failures = 0
  }

  #drop(): void {
    this.#cancel()
    this.#socket?.close()
    this.#socket = undefined
    this.isOpen = false
  }

  #dial(): void {
    const { edge, onFree, onOpen, onPong } = this.#deps
    if (this.#run === undefined) return
    this.#after(PONG_WITHIN_MS, () => this.#lost())
    this.#socket = edge.attach?.(this.#run, {
      open: () => {
        this.isOpen = true
        onOpen(this.#wasOpen)
        this.#wasOpen = true
        this.#ping()
      },
      text: (text) => {
        if (text === 'free') onFree()
        if (text !== 'pong') return
        this.#failures = 0
        this.#after(SOCKET_PING_MS, () => this.#ping())
        onPong()
      },
      closed: () => this.#lost(),
    })
  }

  #ping(): void {
    if (!this.#deps.mayPing()) {
      this.#after(LOOK_AGAIN_MS, () => this.#ping())
      return
    }
    this.#after(PONG_WITHIN_MS, () => this.#lost())
    this.#socket?.send('ping')
  }

  #lost(): void {
    const wasOpen = this.isOpen
    this.#drop()
    this.#failures++
    // Many sidecars lose their sockets at once when an edge is deployed.
    const ms = backoffMs(this.#failures, DIAL, this.#deps.clock.random())
    this.#after(ms, () => this.#dial())
    if (wasOpen) this.#deps.onLost()
  }

  /** It has one timer: for the next ping, the answer to one, or the next try. */
  #after(ms: number, call: () => void): void {
    this.#cancel()
    this.#cancel = this.#deps.clock.after(ms, call)
  }
}
