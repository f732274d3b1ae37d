// Thousands of clients of one stream, as cheap as they can be made: on plain sockets, since what
// they cost is taken from the same two cores.

import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { cpuMsOf, memoryOf } from '../proc.ts'
import { rounded } from '../statistics.ts'
import type { FanoutTarget } from './systems.ts'

/** At a time; more would be refused by a full backlog. */
const OPENING = 64
const SETTLE_MS = 3_000
const PAUSE_MS = 250
/** The first messages find cold code. */
const WARM_UP = 3
/** A message that took longer is lost. */
const LOST_MS = 20_000

export interface FanoutSample {
  system: FanoutTarget['system']
  streams: number
  /** From before a message is published until the last stream has it, in ms. */
  lastMs: number[]
  /** Messages that did not reach every stream. */
  lost: number
  /** What the process that holds the streams spends on a core for each message, on average. */
  cpuMs: number
  /** Memory of that process for each stream. */
  kibAStream: number
}

export async function measureFanout(
  target: FanoutTarget,
  { streams, messages }: { streams: number; messages: number },
): Promise<FanoutSample> {
  const before = memoryOf(target.pid).rssMiB
  const crowd = new Crowd(target)
  try {
    await crowd.open(streams)
    await sleep(SETTLE_MS)
    const kibAStream = rounded(((memoryOf(target.pid).rssMiB - before) * 1_024) / streams)
    const lastMs: number[] = []
    let lost = 0
    let cpuMs = 0
    for (let n = 1; n <= messages + WARM_UP; n++) {
      const cpuFromMs = cpuMsOf(target.pid)
      const startedAt = performance.now()
      const heard = crowd.hear()
      await target.publish(n)
      const at = await Promise.race([heard, sleep(LOST_MS, undefined, { ref: false })])
      if (at === undefined) lost++
      else if (n > WARM_UP) {
        lastMs.push(rounded(at - startedAt))
        cpuMs += (cpuMsOf(target.pid) - cpuFromMs) / messages
      }
      await sleep(PAUSE_MS)
    }
    return { system: target.system, streams, lastMs, lost, cpuMs: rounded(cpuMs), kibAStream }
  } finally {
    crowd.close()
  }
}

class Crowd {
  readonly #target: FanoutTarget
  readonly #sockets: Socket[] = []
  #missing = 0
  #onLast: (at: number) => void = () => undefined

  constructor(target: FanoutTarget) {
    this.#target = target
  }

  async open(count: number): Promise<void> {
    let next = 0
    const opener = async () => {
      while (next < count) await this.#openOne(next++)
    }
    await Promise.all(Array.from({ length: OPENING }, opener))
  }

  /** When the last stream has the next message. */
  hear(): Promise<number> {
    this.#missing = this.#sockets.length
    return new Promise((resolve) => {
      this.#onLast = resolve
    })
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy()
  }

  async #openOne(n: number): Promise<void> {
    const { port, joined, message, stream } = this.#target
    const { path, headers } = stream(n)
    const socket = connect({ port, host: '127.0.0.1', noDelay: true })
    this.#sockets.push(socket)
    const lines = Object.entries({ Host: 'bench', Accept: 'text/event-stream', ...headers })
    socket.write(
      `GET ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`,
    )
    await new Promise<void>((resolve, reject) => {
      let text = ''
      let isJoined = false
      socket.on('error', reject)
      socket.on('close', () => reject(new Error(`a stream of ${this.#target.system} ended`)))
      socket.on('data', (bytes) => {
        if (isJoined) {
          // A message is short, and comes in one piece.
          if (bytes.includes(message) && --this.#missing === 0) this.#onLast(performance.now())
          return
        }
        text += bytes.toString('latin1')
        if (!text.includes(joined)) return
        isJoined = true
        text = ''
        resolve()
      })
    })
  }
}
