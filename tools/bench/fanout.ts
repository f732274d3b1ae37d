// Thousands of clients of one stream, as cheap as they can be made: on plain sockets, since what
// they cost is taken from the same two cores.

import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type BenchRun, circumstances, type Result, type Verdict } from './bench.ts'
import {
  FANOUT_SYSTEMS,
  type FanoutSystem,
  type FanoutTarget,
  hasNchan,
  startFanout,
} from './fanout/systems.ts'
import type { DotRow } from './plot/dot-rows.ts'
import { measuredOn, type Picture } from './plot/picture.ts'
import { cpuMsOf, memoryOf } from './proc.ts'
import { percentile, rounded } from './statistics.ts'

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

async function measureFanout(
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

/** Times the smallest Worker with a shared subscription: what is checked and resumed costs little. */
const TARGETS = { timesShared: 1.15 }
const FULL = { rounds: 3, streams: [1_000, 5_000], messages: 12 }
const QUICK: typeof FULL = { rounds: 1, streams: [100], messages: 3 }

export interface FanoutResult extends Result {
  targets: { timesShared: number }
  /** How many at a time. */
  streams: readonly number[]
  /** Systems that are not installed here. */
  skipped: readonly string[]
  samples: FanoutSample[]
}

export async function runFanout(run: BenchRun): Promise<FanoutResult> {
  const startedAt = performance.now()
  const plan = run.isQuick ? QUICK : FULL
  const skipped = hasNchan() ? [] : ['nchan']
  if (skipped.length > 0) {
    run.say('nchan is skipped: apt-get install nginx libnginx-mod-nchan brings it.')
  }
  const turn = FANOUT_SYSTEMS.filter((system) => !skipped.includes(system)).flatMap((system) =>
    plan.streams.map((streams) => ({ system, streams })),
  )
  const samples: FanoutSample[] = []
  for (let round = 0; round < plan.rounds; round++) {
    // Every second round has the other order, since the first system runs on a cold machine.
    for (const { system, streams } of round % 2 === 0 ? turn : turn.toReversed()) {
      const dir = join(run.workDir, `fanout-${samples.length}`)
      const target = await startFanout(system, dir)
      try {
        const sample = await measureFanout(target, { streams, messages: plan.messages })
        samples.push(sample)
        run.say(inWords(sample))
      } finally {
        await target.stop()
      }
    }
  }
  const verdicts = plan.streams.map((streams) => verdictOf(samples, streams))
  const found = { targets: TARGETS, streams: plan.streams, skipped, samples }
  return { ...circumstances(run.command, startedAt), verdicts, ...found }
}

function verdictOf(samples: readonly FanoutSample[], streams: number): Verdict {
  const of = (system: FanoutSystem) =>
    samples.filter((s) => s.system === system && s.streams === streams)
  const medianOf = (system: FanoutSystem) =>
    percentile(
      of(system).flatMap((s) => s.lastMs),
      50,
    )
  const [ours, shared] = [medianOf('signalbox'), medianOf('shared-worker')]
  const lost = of('signalbox').reduce((sum, sample) => sum + sample.lost, 0)
  const times = Math.round((ours / shared) * 100) / 100
  return {
    what: `publish to the last of ${streams} streams, median`,
    target: `${TARGETS.timesShared} of the smallest Worker`,
    measured: `${ours} ms, ${times} of ${shared} ms, ${lost} lost`,
    reached: times <= TARGETS.timesShared && lost === 0,
  }
}

function inWords({ system, streams, lastMs, lost, cpuMs, kibAStream }: FanoutSample): string {
  const median = percentile(lastMs, 50)
  return `${system}, ${streams} streams: ${median} ms to the last, ${cpuMs} ms of a core, ${kibAStream} KiB each, ${lost} lost`
}

const LOOKS: Record<FanoutSystem, { label: string; color: string }> = {
  signalbox: { label: 'Signalbox', color: '#1d63d8' },
  'shared-worker': { label: 'smallest Worker', color: '#7a8490' },
  'own-sockets': { label: 'the same, a socket each', color: '#8a5fb0' },
  nchan: { label: 'nchan', color: '#c2570c' },
}

export function fanoutPicture(result: FanoutResult): Picture {
  const { machine, samples, skipped, streams } = result
  return {
    title: 'From publishing a message until the last stream has it',
    about: [
      'One dot is one message; stroke: median. Memory: of the process that holds the streams, for each of them.',
      `Smallest Worker: on workerd too, one shared subscription, no access, no resuming.${skipped.length > 0 ? ' nchan was not installed.' : ''}`,
      measuredOn(machine, 'load and server on the same machine'),
    ],
    parts: [
      {
        axis: {
          from: 5,
          to: Math.max(20, ...samples.flatMap(({ lastMs }) => lastMs)) * 1.1,
          label: 'milliseconds, logarithmic',
          format: (ms) => `${ms} ms`,
        },
        groups: streams.map((count) => ({
          label: `${count.toLocaleString('en')} streams`,
          rows: rowsOf(samples.filter((sample) => sample.streams === count)),
        })),
      },
    ],
  }
}

function rowsOf(samples: FanoutResult['samples']): DotRow[] {
  return [...Map.groupBy(samples, ({ system }) => system)].map(([system, of]) => {
    const values = of.flatMap(({ lastMs }) => lastMs)
    const each = of.map(({ kibAStream }) => kibAStream)
    const kib = Math.round(percentile(each, 50))
    return {
      ...LOOKS[system],
      values,
      marks: [percentile(values, 50)],
      note: `${Math.round(percentile(values, 50))} ms · ${kib} KiB a stream`,
      missing: of.reduce((sum, { lost }) => sum + lost, 0),
    }
  })
}
