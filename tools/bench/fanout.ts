// Thousands of clients of one stream, as cheap as they can be made: on plain sockets, since what
// they cost is taken from the same two cores. Beside it the smallest Worker that fans out.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { join, relative } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { LOOPBACK } from '../../system/ports.ts'
import { WIRE } from '../../worker/board/wire.ts'
import { prepareWorkerd, readWorkerSettings } from '../start/workerd.ts'
import { atMost, type Bench, percentile } from './bench.ts'
import { cpuMsOf, mebibytesOf } from './proc.ts'
import { type BenchEdge, HOME, startEdge, tokenFor } from './programs.ts'

/** At a time; more would be refused by a full backlog. */
const OPENING = 64
const SETTLE_MS = 3_000
const PAUSE_MS = 250
/** The first messages find cold code. */
const WARM_UP = 3
/** A message that took longer is lost. */
const LOST_MS = 20_000
/** Times the smallest Worker: what is checked and resumed costs little. */
const TIMES_SMALLEST = 1.15
const FULL = { rounds: 3, streams: [1_000, 5_000], messages: 12 }
const QUICK: typeof FULL = { rounds: 1, streams: [100], messages: 3 }

const SYSTEMS = { Signalbox: startOurs, 'smallest Worker': startSmallest } as const
type System = keyof typeof SYSTEMS
const NAMES = Object.keys(SYSTEMS) as System[]

export const runFanout: Bench = async (run) => {
  const plan = run.isQuick ? QUICK : FULL
  for (const streams of plan.streams) {
    const samples: Record<System, Sample[]> = { Signalbox: [], 'smallest Worker': [] }
    for (let round = 0; round < plan.rounds; round++) {
      // Every second round has the other order, since the first system runs on a cold machine.
      for (const system of round % 2 === 0 ? NAMES : NAMES.toReversed()) {
        const dir = join(run.workDir, `${NAMES.indexOf(system)}-${streams}-${round}`)
        mkdirSync(dir)
        const target = await SYSTEMS[system](dir)
        await using _ = target.edge
        samples[system].push(await measure(target, streams, plan.messages))
      }
    }
    const lastMs = (system: System) => samples[system].flatMap((sample) => sample.lastMs)
    const smallest = percentile(lastMs('smallest Worker'), 50)
    for (const system of NAMES) {
      const of = samples[system]
      const what = (words: string, unit: string) => {
        return { what: `${streams.toLocaleString('en')} streams: ${words}`, system, unit }
      }
      const lost = of.reduce((sum, sample) => sum + sample.lost, 0)
      run.report(what('publish to the last', 'ms'), lastMs(system), {
        aim: system === 'Signalbox' ? atMost(TIMES_SMALLEST * smallest) : undefined,
        faults: lost > 0 ? [`${lost} lost`] : [],
      })
      run.report(
        what('a message, of a core', 'ms'),
        of.map(({ cpuMs }) => cpuMs),
      )
      run.report(
        what('memory of each', 'KiB'),
        of.map(({ kibAStream }) => kibAStream),
      )
    }
  }
}

interface Target {
  edge: BenchEdge
  /** Path and headers of stream number `n`. */
  stream(n: number): { path: string; headers: Readonly<Record<string, string>> }
  /** Text that a stream contains once it is subscribed. */
  joined: string
  publish(n: number): Promise<void>
}

/** What each message holds. */
const MESSAGE = 'data: {"type":"task-changed"'
/** A subject may have a quarter of a repository's streams. */
const SUBJECTS = 8

async function startOurs(dir: string): Promise<Target> {
  const edge = await startEdge(prepareWorkerd, dir)
  const sign = (sub: string, scope: string) => tokenFor(scope, { repos: ['bench'], sub })
  const readers = await Promise.all(
    Array.from({ length: SUBJECTS }, (_, n) => sign(`reader-${n}`, 'board:read')),
  )
  const writer = await sign('sidecar', 'board:write')
  const post = async (path: string, body: object) => {
    const headers = { Authorization: `Bearer ${writer}` }
    const init = { method: 'POST', headers, body: JSON.stringify({ wire: WIRE, ...body }) }
    const response = await fetch(`${edge.url}/api/${path}`, init)
    if (!response.ok) throw new Error(`${path} was answered ${response.status}`)
    return (await response.json()) as { epoch: string; run: number }
  }
  const store = { state: 'present', version: '0.0.0' }
  const root = { step: 'root', run: null, root: '0'.repeat(32), store }
  const { epoch, run } = await post('sync', root)
  return {
    edge,
    stream: (n) => ({
      path: '/api/events',
      headers: { Authorization: `Bearer ${readers[n % SUBJECTS]}` },
    }),
    joined: '\nid: ',
    async publish(n) {
      const hash = n.toString(16).padStart(32, '0')
      const task = { id: 'T-1', title: `Message ${n}`, status: 'open', ready: true }
      const upserts = [{ kind: 'task', id: 'T-1', hash, file: hash, task }]
      await post('changes', { epoch, run, batch: n, upserts, deletes: [] })
    },
  }
}

/** With the runtime's settings of our edge, so that only the work differs. */
async function startSmallest(dir: string): Promise<Target> {
  const toml = readFileSync(join(HOME, 'wrangler.toml'), 'utf8')
  const { compatibility_date, compatibility_flags } = readWorkerSettings(toml)
  const main = relative(dir, join(import.meta.dirname, 'smallest-worker.ts'))
  const settings = { main, compatibility_date, compatibility_flags }
  const lines = Object.entries(settings).map(([name, of]) => `${name} = ${JSON.stringify(of)}`)
  const object = '[[durable_objects.bindings]]\nname = "TOPIC"\nclass_name = "Topic"'
  writeFileSync(join(dir, 'wrangler.toml'), `${[...lines, object].join('\n')}\n`)
  const edge = await startEdge(prepareWorkerd, join(dir, 'edge'), { home: dir })
  return {
    edge,
    stream: () => ({ path: '/events', headers: {} }),
    joined: ': connected',
    async publish(n) {
      const body = JSON.stringify({ type: 'task-changed', id: `T-${n}` })
      const response = await fetch(`${edge.url}/publish`, { method: 'POST', body })
      if (!response.ok) throw new Error(`publishing was answered ${response.status}`)
    },
  }
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

async function measure(target: Target, streams: number, messages: number): Promise<Sample> {
  const { pid } = target.edge
  const before = mebibytesOf(pid, 'VmRSS')
  using crowd = await crowdOf(target, streams)
  await sleep(SETTLE_MS)
  const kibAStream = ((mebibytesOf(pid, 'VmRSS') - before) * 1_024) / streams
  const lastMs: number[] = []
  let [lost, cpuMs] = [0, 0]
  for (let n = 1; n <= messages + WARM_UP; n++) {
    const cpuFromMs = cpuMsOf(pid)
    const startedAt = performance.now()
    const last = crowd.last()
    await target.publish(n)
    const at = await Promise.race([last, sleep(LOST_MS, undefined, { ref: false })])
    if (at === undefined) lost++
    else if (n > WARM_UP) {
      lastMs.push(at - startedAt)
      cpuMs += (cpuMsOf(pid) - cpuFromMs) / messages
    }
    await sleep(PAUSE_MS)
  }
  return { lastMs, lost, cpuMs, kibAStream }
}

/** So many open streams. `last`: when the last of them has the next message. */
async function crowdOf({ edge, joined, stream }: Target, count: number) {
  const sockets: Socket[] = []
  let missing = 0
  let onLast: (at: number) => void = () => undefined
  const open = (n: number) => {
    const { path, headers } = stream(n)
    const socket = connect({ port: edge.port, host: LOOPBACK, noDelay: true })
    sockets.push(socket)
    const all = Object.entries({ Host: 'bench', Accept: 'text/event-stream', ...headers })
    const lines = all.map(([name, value]) => `${name}: ${value}\r\n`)
    socket.write(`GET ${path} HTTP/1.1\r\n${lines.join('')}\r\n`)
    return new Promise<void>((resolve, reject) => {
      let text = ''
      let isJoined = false
      socket.on('error', reject)
      socket.on('close', () => reject(new Error('a stream ended')))
      socket.on('data', (bytes) => {
        if (isJoined) {
          // A message is short, and comes in one piece.
          if (bytes.includes(MESSAGE) && --missing === 0) onLast(performance.now())
          return
        }
        text += bytes.toString('latin1')
        isJoined = text.includes(joined)
        if (isJoined) resolve()
      })
    })
  }
  let next = 0
  const opener = async () => {
    while (next < count) await open(next++)
  }
  await Promise.all(Array.from({ length: OPENING }, opener))
  return {
    last(): Promise<number> {
      missing = count
      return new Promise((resolve) => {
        onLast = resolve
      })
    },
    [Symbol.dispose]() {
      for (const socket of sockets) socket.destroy()
    },
  }
}
