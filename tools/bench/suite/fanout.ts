// Thousands of clients of one stream, as cheap as they can be made: on plain sockets, since what
// they cost is taken from the same two cores.

import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { LOOPBACK } from '../../../system/local/ports.ts'
import { WIRE } from '../../../worker/board/wire.ts'
import { prepareWorkerd } from '../../start/workerd.ts'
import { type Bench, reporter } from '../bench.ts'
import { cpuMsOf, mebibytesOf } from '../proc.ts'
import { startEdge, tokenFor } from '../programs.ts'

/** At a time; more would be refused by a full backlog. */
const OPENING = 64
const SETTLE_MS = 3_000
const PAUSE_MS = 250
/** The first messages find cold code. */
const WARM_UP = 3
/** A message that took longer is lost. */
const LOST_MS = 20_000
/** By streams: 1.15 times what the smallest Worker takes that shares a subscription, and no more. */
const MAX_MS: Readonly<Record<number, number>> = { 1000: 39, 5000: 166 }
const FULL = { rounds: 3, streams: [1_000, 5_000], messages: 12 }
const QUICK: typeof FULL = { rounds: 1, streams: [100], messages: 3 }

export const runFanout: Bench = async (run) => {
  const plan = run.isQuick ? QUICK : FULL
  for (const streams of plan.streams) {
    const lastMs: number[] = []
    const cpuMs: number[] = []
    const kibAStream: number[] = []
    for (let round = 0; round < plan.rounds; round++) {
      const found = await measure(join(run.workDir, `${streams}-${round}`), streams, plan.messages)
      lastMs.push(...found.lastMs)
      cpuMs.push(found.cpuMs)
      kibAStream.push(found.kibAStream)
    }
    const show = reporter(run, 'Signalbox', `${streams.toLocaleString('en')} streams: `)
    const lost = plan.rounds * plan.messages - lastMs.length
    const faults = lost > 0 ? [`${lost} lost`] : []
    show('publish to the last', 'ms', lastMs, MAX_MS[streams], faults)
    show('a message, of a core', 'ms', cpuMs)
    show('memory of each', 'KiB', kibAStream)
  }
}

/**
 * `lastMs`: from before a message is published until the last stream has it. `cpuMs`: what the edge
 * spends on a core for each message, on average. `kibAStream`: of its memory.
 */
async function measure(dir: string, streams: number, messages: number) {
  await using edge = await startEdge(prepareWorkerd, dir)
  const publish = await publisherAt(edge.url)
  const before = mebibytesOf(edge.pid, 'VmRSS')
  using crowd = await crowdAt(edge.port, streams)
  await sleep(SETTLE_MS)
  const kibAStream = ((mebibytesOf(edge.pid, 'VmRSS') - before) * 1_024) / streams
  const lastMs: number[] = []
  let cpuMs = 0
  for (let n = 1; n <= messages + WARM_UP; n++) {
    const cpuFromMs = cpuMsOf(edge.pid)
    const startedAt = performance.now()
    const last = crowd.last()
    await publish(n)
    const at = await Promise.race([last, sleep(LOST_MS, undefined, { ref: false })])
    if (at !== undefined && n > WARM_UP) {
      lastMs.push(at - startedAt)
      cpuMs += (cpuMsOf(edge.pid) - cpuFromMs) / messages
    }
    await sleep(PAUSE_MS)
  }
  return { lastMs, cpuMs, kibAStream }
}

const tokenOf = (sub: string, scope: string) => tokenFor(scope, { repos: ['bench'], sub })

/** Publishes as a sidecar does. */
async function publisherAt(url: string): Promise<(n: number) => Promise<unknown>> {
  const writer = await tokenOf('sidecar', 'board:write')
  const post = async (path: string, body: object) => {
    const headers = { Authorization: `Bearer ${writer}` }
    const init = { method: 'POST', headers, body: JSON.stringify({ wire: WIRE, ...body }) }
    const response = await fetch(`${url}/api/${path}`, init)
    if (!response.ok) throw new Error(`${path} was answered ${response.status}`)
    return (await response.json()) as { epoch: string; run: number }
  }
  const store = { state: 'present', version: '0.0.0' }
  const root = { step: 'root', run: null, root: '0'.repeat(32), store }
  const { epoch, run } = await post('sync', root)
  return (n) => {
    const hash = n.toString(16).padStart(32, '0')
    const task = { id: 'T-1', title: `Message ${n}`, status: 'open', ready: true }
    const upserts = [{ kind: 'task', id: 'T-1', hash, file: hash, task }]
    return post('changes', { epoch, run, batch: n, upserts, deletes: [] })
  }
}

/** A subject may have a quarter of a repository's streams. */
const SUBJECTS = 8
/** What a stream contains once it is subscribed, and each message. */
const JOINED = '\nid: '
const MESSAGE = 'data: {"type":"task-changed"'

/** So many open streams. `last`: when the last of them has the next message. */
async function crowdAt(port: number, count: number) {
  const subjects = Array.from({ length: SUBJECTS }, (_, n) => tokenOf(`reader-${n}`, 'board:read'))
  const tokens = await Promise.all(subjects)
  const sockets: Socket[] = []
  let missing = 0
  let onLast: (at: number) => void = () => undefined
  const open = (n: number) => {
    const socket = connect({ port, host: LOOPBACK, noDelay: true })
    sockets.push(socket)
    const lines = [
      'GET /api/events HTTP/1.1',
      'Host: bench',
      'Accept: text/event-stream',
      `Authorization: Bearer ${tokens[n % SUBJECTS]}`,
    ]
    socket.write(`${lines.join('\r\n')}\r\n\r\n`)
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
        isJoined = text.includes(JOINED)
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
      const { promise, resolve } = Promise.withResolvers<number>()
      onLast = resolve
      return promise
    },
    [Symbol.dispose]() {
      for (const socket of sockets) socket.destroy()
    },
  }
}
