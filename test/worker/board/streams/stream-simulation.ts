// A repository and the isolates around it, with a network between them that takes its time. Each
// stream lives in a request of its own (an async context), which may vanish without a word.

import { AsyncLocalStorage } from 'node:async_hooks'
import { FakeClock } from '../../../../libraries/testing/fake-clock.ts'
import { openRepository } from '../../../../worker/board/repository/open-repository-sqlite.ts'
import {
  SharedSubscription,
  type Upstream,
} from '../../../../worker/board/streams/shared-subscription.ts'
import type { StreamRoom } from '../../../../worker/board/streams/stream-room.ts'
import type { Message } from '../../../../worker/board/wire.ts'
import type { Clock } from '../../../../worker/shared/clock.ts'
import { openSql } from '../../../../worker/shared/sql-node.ts'
import { sessionRecord, taskRecord } from '../../../support/edge.ts'

/** The request of one stream. What vanished runs nothing more. */
export interface Life {
  text: string
  end: string | undefined
  isVanished: boolean
  isSlow: boolean
  lastEventId: string | undefined
  holder: string
  /** The newest change when it was opened. */
  openedAt: number
  leave(): void
  stopPing(): void
}

interface Socket {
  isolate: number
  owner: Life | undefined
  streams: number
  deliver(event: (sink: Parameters<Upstream['dial']>[2]) => void): void
}

export class StreamSimulation {
  readonly clock = new FakeClock()
  readonly log: Message[] = []
  readonly sockets = new Set<Socket>()
  readonly lives: Life[] = []
  readonly seen = new Set<string>()
  isDown = false
  readonly #requests = new AsyncLocalStorage<Life>()
  readonly #repository = openRepository(openSql(':memory:')).repository
  readonly #isolates: SharedSubscription[]
  readonly #requestClock: Clock
  readonly #encoder = new TextEncoder()
  #batch = 0
  #epoch = ''

  constructor(isolates: number, room: StreamRoom) {
    const { clock } = this
    const ofLiving = (read: () => number) => () => {
      if (this.#requests.getStore()?.isVanished) throw new Error('vanished')
      return read()
    }
    this.#requestClock = {
      now: ofLiving(clock.now),
      elapsed: ofLiving(clock.elapsed),
      random: clock.random,
      after: (ms: number, call: () => void) => {
        const life = this.#requests.getStore()
        return clock.after(ms, () => {
          // Not in the context of whoever moves the clock.
          if (life && !life.isVanished) this.#requests.run(life, call)
        })
      },
    }
    this.#isolates = Array.from({ length: isolates }, (_, isolate) => {
      const log = (_level: string, event: string) => void this.seen.add(event)
      return new SharedSubscription({
        upstream: this.#upstream(isolate),
        room,
        clock: this.#requestClock,
        log,
      })
    })
    const root = this.#repository.sync(
      {
        step: 'root',
        run: null,
        root: '0'.repeat(32),
        store: { state: 'present', version: '1' },
      },
      clock.now(),
    )
    if (!root.ok || root.answer.step !== 'root') throw new Error('it was not published')
    this.#epoch = root.answer.epoch
  }

  get head(): string {
    return `${this.#epoch}-${this.log.length}`
  }

  idOf(seq: number): string {
    return `${this.#epoch}-${seq}`
  }

  seqOf(id: string): number {
    const [epoch, seq] = id.split('-')
    if (epoch !== this.#epoch) throw new Error(`${id} is of no log`)
    return Number(seq)
  }

  publish(kind: 'task' | 'session'): void {
    const n = this.log.length + 1
    const record = kind === 'task' ? taskRecord(`T-${n}`) : sessionRecord(`ses_${n}`)
    const published = this.#repository.changes(
      { epoch: this.#epoch, run: 1, batch: ++this.#batch, upserts: [record], deletes: [] },
      this.clock.now(),
    )
    if (!published.ok || !published.answer.message) throw new Error('it streams nothing')
    this.log.push(published.answer.message)
    for (const frame of published.frames) {
      const bytes = this.#encoder.encode(frame)
      for (const socket of this.sockets) socket.deliver((sink) => sink.block(bytes))
    }
  }

  open(isolate: number, holder: string, lastEventId?: string): Life {
    const life: Life = {
      text: '',
      end: undefined,
      isVanished: false,
      isSlow: false,
      lastEventId,
      holder,
      openedAt: this.log.length,
      leave: () => undefined,
      stopPing: () => undefined,
    }
    const decoder = new TextDecoder()
    this.lives.push(life)
    this.#requests.run(life, () => {
      const subscribed = this.#isolates[isolate]?.subscribe(
        { lastEventId, since: this.clock.now(), holder },
        {
          send: (bytes) => {
            if (life.isVanished || life.end !== undefined) return
            life.text += decoder.decode(bytes)
            if (life.isSlow) this.end(life, 'slow')
          },
          end: (reason) => {
            if (life.isVanished) return
            life.end ??= reason
            life.stopPing()
          },
        },
      )
      const ping = () => {
        subscribed?.onPing()
        if (life.end === undefined) life.stopPing = this.#requestClock.after(15_000, ping)
      }
      if (life.end === undefined) life.stopPing = this.#requestClock.after(15_000, ping)
      life.leave = () => {
        life.stopPing()
        subscribed?.close()
      }
    })
    return life
  }

  end(life: Life, reason: string): void {
    life.end ??= reason
    this.#requests.run(life, life.leave)
  }

  /** Its isolate is told nothing; the repository learns that its socket is gone. */
  vanish(life: Life): void {
    if ([...this.sockets].some(({ owner }) => owner === life)) this.seen.add('leader vanished')
    life.isVanished = true
    life.end ??= 'vanished'
    for (const socket of this.sockets) if (socket.owner === life) this.sockets.delete(socket)
  }

  /** The repository lets go of every socket, as a deploy does. */
  drop(): void {
    for (const socket of this.sockets) {
      this.sockets.delete(socket)
      socket.deliver((sink) => sink.closed())
    }
  }

  get alive(): Life[] {
    return this.lives.filter(({ end }) => end === undefined)
  }

  #upstream(isolate: number): Upstream {
    const travel = () =>
      new Promise<void>((resolve) => {
        this.clock.after(this.#latencyMs(), resolve)
      })
    const check = () => {
      if (this.isDown) throw new Error('unreachable')
    }
    return {
      dial: async (from, streams, sink) => {
        const owner = this.#requests.getStore()
        await travel()
        check()
        if (owner?.isVanished) return await new Promise(() => undefined)
        for (const old of this.sockets) {
          if (old.isolate !== isolate) continue
          this.sockets.delete(old)
          old.deliver((other) => other.closed())
        }
        const latencyMs = this.#latencyMs()
        let isClosed = false
        const socket: Socket = {
          isolate,
          owner,
          streams,
          deliver: (event) => {
            const arrive = () => {
              if (!isClosed && !owner?.isVanished) event(sink)
            }
            this.clock.after(latencyMs, () =>
              owner ? this.#requests.run(owner, arrive) : arrive(),
            )
          },
        }
        this.sockets.add(socket)
        const others = () =>
          [...this.sockets].reduce((sum, each) => sum + (each === socket ? 0 : each.streams), 0)
        for (const frame of this.#repository.replay(from, this.clock.now())) {
          const bytes = this.#encoder.encode(frame)
          socket.deliver((to) => to.block(bytes))
        }
        const count = others()
        socket.deliver((to) => to.others(count))
        return {
          report: (now) => {
            socket.streams = now
            const answer = others()
            socket.deliver((to) => to.others(answer))
          },
          close: () => {
            isClosed = true
            this.sockets.delete(socket)
          },
        }
      },
      missed: async (from) => {
        this.seen.add('asked the repository')
        await travel()
        check()
        const frames = this.#repository.replay(from, this.clock.now())
        await travel()
        return frames
      },
    }
  }

  #turn = 0

  /** Not the same for each, so that answers overtake one another. */
  #latencyMs(): number {
    return 1 + ((this.#turn++ * 7) % 40)
  }
}
