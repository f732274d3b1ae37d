// Thousands of clients of one stream, as cheap as they can be made: on plain sockets, since what
// they cost is taken from the same two cores.

import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Bench, type Row, rowOf } from './bench.ts'
import {
  FANOUT_SYSTEMS,
  type FanoutSystem,
  type FanoutTarget,
  hasNchan,
  startFanout,
} from './fanout/systems.ts'
import { cpuMsOf, memoryOf } from './proc.ts'
import { percentile } from './statistics.ts'

/** At a time; more would be refused by a full backlog. */
const OPENING = 64
const SETTLE_MS = 3_000
const PAUSE_MS = 250
/** The first messages find cold code. */
const WARM_UP = 3
/** A message that took longer is lost. */
const LOST_MS = 20_000
/** Times the smallest Worker with a shared subscription: what is checked and resumed costs little. */
const TIMES_SHARED = 1.15
const FULL = { rounds: 3, streams: [1_000, 5_000], messages: 12 }
const QUICK: typeof FULL = { rounds: 1, streams: [100], messages: 3 }

const LABEL: Readonly<Record<FanoutSystem, string>> = {
  signalbox: 'Signalbox',
  'shared-worker': 'smallest Worker',
  'own-sockets': 'smallest Worker, a socket each',
  nchan: 'nchan',
}

export const runFanout: Bench = async (run, report) => {
  const plan = run.isQuick ? QUICK : FULL
  const systems = FANOUT_SYSTEMS.filter((system) => system !== 'nchan' || hasNchan())
  if (!hasNchan()) {
    process.stdout.write('nchan is skipped: apt-get install nginx libnginx-mod-nchan brings it.\n')
  }
  for (const streams of plan.streams) {
    const samples = new Map<FanoutSystem, Sample[]>()
    for (let round = 0; round < plan.rounds; round++) {
      // Every second round has the other order, since the first system runs on a cold machine.
      for (const system of round % 2 === 0 ? systems : systems.toReversed()) {
        const target = await startFanout(system, join(run.workDir, `${system}-${streams}-${round}`))
        try {
          const sample = await measure(target, streams, plan.messages)
          samples.set(system, [...(samples.get(system) ?? []), sample])
        } finally {
          await target.stop()
        }
      }
    }
    for (const row of rowsOf(streams, samples)) report(row)
  }
}

function rowsOf(streams: number, samples: ReadonlyMap<FanoutSystem, Sample[]>): Row[] {
  const lastMs = (system: FanoutSystem) =>
    (samples.get(system) ?? []).flatMap((sample) => sample.lastMs)
  const most = TIMES_SHARED * percentile(lastMs('shared-worker'), 50)
  return [...samples].flatMap(([name, of]) => {
    const row = (words: string, unit: string, values: number[], more = {}) => {
      const what = `${streams.toLocaleString('en')} streams: ${words}`
      return rowOf({ what, system: LABEL[name], unit }, values, more)
    }
    const lost = of.reduce((sum, sample) => sum + sample.lost, 0)
    const aim = name === 'signalbox' && { aim: { of: 'p50', most } as const }
    const faults = lost > 0 ? [`${lost} lost`] : []
    return [
      row('publish to the last', 'ms', lastMs(name), { ...aim, faults }),
      row(
        'a message, of a core',
        'ms',
        of.map(({ cpuMs }) => cpuMs),
      ),
      row(
        'memory of each',
        'KiB',
        of.map(({ kibAStream }) => kibAStream),
      ),
    ]
  })
}

interface Sample {
  /** From before a message is published until the last stream has it, in ms. */
  lastMs: number[]
  /** Messages that did not reach every stream. */
  lost: number
  /** What the process that holds the streams spends on a core for each message, on average. */
  cpuMs: number
  /** Memory of that process. */
  kibAStream: number
}

async function measure(target: FanoutTarget, streams: number, messages: number): Promise<Sample> {
  const before = memoryOf(target.pid).rssMiB
  const crowd = new Crowd(target)
  try {
    await crowd.open(streams)
    await sleep(SETTLE_MS)
    const kibAStream = ((memoryOf(target.pid).rssMiB - before) * 1_024) / streams
    const lastMs: number[] = []
    let [lost, cpuMs] = [0, 0]
    for (let n = 1; n <= messages + WARM_UP; n++) {
      const cpuFromMs = cpuMsOf(target.pid)
      const startedAt = performance.now()
      const heard = crowd.hear()
      await target.publish(n)
      const at = await Promise.race([heard, sleep(LOST_MS, undefined, { ref: false })])
      if (at === undefined) lost++
      else if (n > WARM_UP) {
        lastMs.push(at - startedAt)
        cpuMs += (cpuMsOf(target.pid) - cpuFromMs) / messages
      }
      await sleep(PAUSE_MS)
    }
    return { lastMs, lost, cpuMs, kibAStream }
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
