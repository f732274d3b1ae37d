// What it costs to watch a huge board on which nothing happens: time to be ready, memory, CPU.

import { setTimeout as sleep } from 'node:timers/promises'
import { openEvents } from './client.ts'
import { cpuMsOf, memoryOf } from './proc.ts'
import { percentile, rounded } from './statistics.ts'
import { type System, startTarget, type Target } from './target.ts'

export interface IdlePlan {
  boardDir: string
  tasks: number
  /** A system's, for what it keeps between two starts. */
  dataDir: (system: System) => string
  /** Starts with nothing changed since the last one. */
  warmStarts: number
  /** What a start leaves behind (a cache to write, memory to give back) is not idleness. */
  settleMs: number
  idleMs: number
}

export interface IdleRow {
  system: System
  tasks: number
  /** The first start, when nothing is known yet; null: it is the same as any other. */
  coldReadyMs: number | null
  readyMs: number[]
  readyMedianMs: number
  rssMiB: number
  peakMiB: number
  idleMs: number
  /** 100: a whole core. */
  cpuPercent: number
}

/** Idles all at the same time: what each of them uses is counted by the system, process by process. */
export async function measureIdle(
  systems: readonly System[],
  plan: IdlePlan,
  say: (text: string) => void,
): Promise<IdleRow[]> {
  await using stack = new AsyncDisposableStack()
  const started: { target: Target; coldReadyMs: number | null; readyMs: number[] }[] = []
  for (const system of systems) {
    const start = () => startTarget(system, plan.boardDir, plan.dataDir(system))
    let coldReadyMs: number | null = null
    if (system === 'signalbox') {
      const first = await start()
      coldReadyMs = first.readyMs
      say(`${system}: first start ${coldReadyMs} ms`)
      await first.stop()
    }
    const readyMs: number[] = []
    for (let n = 1; n < plan.warmStarts; n++) {
      const target = await start()
      readyMs.push(target.readyMs)
      await target.stop()
    }
    const target = await start()
    stack.defer(() => target.stop())
    readyMs.push(target.readyMs)
    say(`${system}: ready in ${readyMs.join(', ')} ms`)
    started.push({ target, coldReadyMs, readyMs })
  }
  // Awaited here: what is started must run until all is measured.
  return await Promise.all(
    started.map(async ({ target, coldReadyMs, readyMs }) => ({
      system: target.system,
      tasks: plan.tasks,
      coldReadyMs,
      readyMs,
      readyMedianMs: percentile(readyMs, 50),
      ...(await idle(target, plan)),
    })),
  )
}

async function idle(target: Target, { settleMs, idleMs }: IdlePlan) {
  // Somebody looks on: a stream is open, and its pings are part of being idle.
  const events = await openEvents(target, ignore, ignore)
  try {
    await sleep(settleMs)
    const from = { at: performance.now(), cpuMs: cpuMsOf(target.pid) }
    await sleep(idleMs)
    const tookMs = performance.now() - from.at
    const cpuPercent = rounded(((cpuMsOf(target.pid) - from.cpuMs) / tookMs) * 100)
    const { rssMiB, peakMiB } = memoryOf(target.pid)
    const memory = { rssMiB: rounded(rssMiB), peakMiB: rounded(peakMiB) }
    return { ...memory, idleMs: Math.round(tookMs), cpuPercent }
  } finally {
    events.close()
  }
}

const ignore = () => undefined
