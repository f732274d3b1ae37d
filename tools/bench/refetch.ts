// What one change costs a viewer: bytes and time of the read after a message. The whole list as it
// is sent without `?since=` and compression, and what the client reads now, after the same change.

import * as http from 'node:http'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { gunzipSync } from 'node:zlib'
import { type BenchRun, circumstances, type Result } from './bench.ts'
import { type BenchBoard, idOf, makeBoard, nextRank, saveTask } from './board.ts'
import { openEvents } from './client.ts'
import { LOOKS, measuredOn, type Picture } from './plot/picture.ts'
import { percentile, rounded } from './statistics.ts'
import { startTarget, type Target } from './target.ts'

/** Medians. */
interface Cost {
  bytes: number
  ms: number
}

export interface RefetchRow {
  tasks: number
  saves: number
  /** The list, whole and not compressed. */
  whole: Cost
  /** What changed of it, compressed if it is long. */
  changes: Cost
}

const agent = new http.Agent({ keepAlive: true })

async function measureRefetch(
  target: Target,
  board: BenchBoard,
  saves: number,
): Promise<RefetchRow> {
  let heard = Promise.withResolvers<void>()
  const broken = Promise.withResolvers<never>()
  broken.promise.catch(() => undefined)
  const events = await openEvents(
    target,
    () => heard.resolve(),
    (why) => broken.reject(new Error(`The stream broke: ${why}`)),
  )
  const whole: Cost[] = []
  const changes: Cost[] = []
  try {
    let { seq } = await read(target, 'nothing')
    for (let save = 0; save <= saves; save++) {
      heard = Promise.withResolvers()
      const [n, rank] = [save % board.size, nextRank(board)]
      saveTask(board, n, rank)
      await Promise.race([heard.promise, broken.promise])
      const now = await read(target, seq)
      if (now.ranks.get(idOf(n)) !== rank) throw new Error('The answer lacks the change.')
      seq = now.seq
      // The first save runs cold code on both sides.
      if (save > 0) changes.push(now.cost)
      const all = await read(target, undefined)
      if (save > 0) whole.push(all.cost)
    }
  } finally {
    events.close()
  }
  return { tasks: board.size, saves, whole: medianOf(whole), changes: medianOf(changes) }
}

/** `since` undefined: the whole list, not compressed. */
async function read(target: Target, since: string | undefined) {
  const url = target.url('/api/tasks')
  if (since !== undefined) url.searchParams.set('since', since)
  const headers = { ...target.headers, ...(since !== undefined && { 'accept-encoding': 'gzip' }) }
  const from = performance.now()
  const response = await new Promise<http.IncomingMessage>((resolve, reject) => {
    http.get(url, { headers, agent }, resolve).on('error', reject)
  })
  const body = await buffer(response)
  const isPacked = response.headers['content-encoding'] === 'gzip'
  const text = (isPacked ? gunzipSync(body) : body).toString()
  const { tasks, seq } = JSON.parse(text) as List
  // With unpacking and parsing, as the viewer pays for both.
  const cost = { bytes: body.length, ms: performance.now() - from }
  return { cost, seq: seq ?? '', ranks: new Map(tasks.map(({ id, rank }) => [id, rank])) }
}

interface List {
  tasks: { id: string; rank?: number }[]
  seq?: string
}

const medianOf = (costs: readonly Cost[]): Cost => ({
  bytes: percentile(
    costs.map(({ bytes }) => bytes),
    50,
  ),
  ms: rounded(
    percentile(
      costs.map(({ ms }) => ms),
      50,
    ),
  ),
})

/** Beyond this, it would not be flat. */
const TARGETS = { bytes: 2_048 }
const FULL = { sizes: [100, 1_000, 5_000, 20_000], saves: 50 }
const QUICK: typeof FULL = { sizes: [100, 1_000], saves: 5 }

export interface RefetchResult extends Result {
  targets: { bytes: number }
  rows: RefetchRow[]
}

export async function runRefetch(run: BenchRun): Promise<RefetchResult> {
  const startedAt = performance.now()
  const { sizes, saves } = run.isQuick ? QUICK : FULL
  const rows: RefetchRow[] = []
  for (const tasks of sizes) {
    const board = makeBoard(join(run.workDir, `board-${tasks}`), tasks)
    const target = await startTarget('signalbox-node', board.dir, join(run.workDir, `d-${tasks}`))
    try {
      const row = await measureRefetch(target, board, saves)
      rows.push(row)
      run.say(inWords(row))
    } finally {
      await target.stop()
    }
  }
  const verdicts = rows.map(({ tasks, changes }) => ({
    what: `bytes of one change at ${tasks} tasks`,
    target: `${TARGETS.bytes}`,
    measured: `${changes.bytes}`,
    reached: changes.bytes <= TARGETS.bytes,
  }))
  const about = circumstances(run.command, startedAt)
  return { ...about, targets: TARGETS, verdicts, rows }
}

const inWords = ({ tasks, whole, changes }: RefetchRow): string =>
  `${tasks} tasks: ${changes.bytes} bytes in ${changes.ms} ms; ` +
  `the whole list ${whole.bytes} bytes in ${whole.ms} ms`

export function refetchPicture({ rows, machine, targets }: RefetchResult): Picture {
  const sizes = rows.map(({ tasks }) => tasks.toLocaleString('en')).join(', ')
  const color = LOOKS['signalbox-node'].color
  return {
    title: 'What a viewer reads after one change',
    about: [
      `Medians on boards of ${sizes} tasks, from above. The whole list, not compressed, takes what the table says.`,
      measuredOn(machine, 'one Node process'),
    ],
    parts: [
      {
        bars: [
          {
            title: 'Bytes of one change',
            target: targets.bytes,
            format: (bytes) => `${bytes} B`,
            bars: rows.map(({ changes }) => ({ color, value: changes.bytes })),
          },
        ],
      },
    ],
  }
}
