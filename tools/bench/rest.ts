// The benchmark `rest`: what an idle board asks of an edge on workerd, alone, with pages that are
// open and visible, and with a second sidecar that waits.

import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { watchBoard } from '../../libraries/client/index.ts'
import { bundleWorker } from '../start/bundle.ts'
import type { PrepareEdge } from '../start/edge-plan.ts'
import { prepareWorkerd } from '../start/workerd.ts'
import { type Bench, reporter } from './bench.ts'
import { makeBoard } from './board.ts'
import { startNode } from './child.ts'
import { startCountingRelay } from './counting-relay.ts'
import { AUTH_SECRET, startEdge, tokenFor } from './payments/bench-edge.ts'
import { countsIn } from './rest/counts.ts'
import { HOME, LABEL, READY, SIGNALBOX, START_WAIT_MS } from './target.ts'

/** An hour, since the board is compared once in one. */
const FULL = { tasks: 100, settleMs: 60_000, forMs: 3_600_000 }
const QUICK: typeof FULL = { tasks: 20, settleMs: 2_000, forMs: 5_000 }
const CASES = [
  { pages: 0, waiting: 0 },
  { pages: 10, waiting: 0 },
  { pages: 0, waiting: 1 },
] as const
const HOUR_MS = 3_600_000
const DAY_MS = 86_400_000
const MOST = { boardAnHour: 5, constructionsAnHour: 2, pageADay: 3_000 }
const REPO = 'bench'

export const runRest: Bench = async ({ workDir, isQuick }, report) => {
  const plan = isQuick ? QUICK : FULL
  // All at once: they are counted, and not timed.
  const [alone, pages, waits] = await Promise.all(
    CASES.map((beside) => measure({ ...plan, ...beside }, workDir)),
  )
  if (!alone || !pages || !waits) throw new Error('There are three cases.')
  const show = reporter(report, LABEL.signalbox)
  const days = plan.forMs / DAY_MS
  const hours = plan.forMs / HOUR_MS
  show('an idle board', 'requests an hour', alone.requests / hours, MOST.boardAnHour)
  show('an idle board', 'frames an hour', alone.frames / hours)
  const { constructions, alarms, rows } = alone.did
  show('an idle board', 'constructions an hour', constructions / hours, MOST.constructionsAnHour)
  show('an idle board', 'alarms an hour', alarms / hours)
  show('an idle board', 'rows an hour', rows / hours)
  // What their board asks anyway is taken off.
  const aPage = (pages.requests - alone.requests) / 10 / days
  show('a page that is visible all day', 'requests a day', aPage, MOST.pageADay)
  const waiting = (waits.requests - alone.requests) / hours
  show('a sidecar that waits', 'requests an hour', waiting, MOST.boardAnHour)
  show('an idle board, asleep at the end', 'of 1', Number(alone.slept))
}

async function measure(plan: typeof FULL & (typeof CASES)[number], workDir: string) {
  const { pages, waiting, settleMs, forMs } = plan
  await using stack = new AsyncDisposableStack()
  const dir = join(workDir, `rest-${pages}-${waiting}`)
  const board = makeBoard(join(dir, 'board'), plan.tasks)
  const edge = await startEdge(prepareCounted, dir, HOME, { AUTH_SECRETS: AUTH_SECRET })
  const log = join(dir, 'edge.log')
  stack.defer(() => edge.stop())
  const relay = await startCountingRelay(edge.port)
  stack.defer(() => relay.close())
  const tokenOf = (scope: string) => tokenFor(scope, { repos: [REPO], sub: 'bench' })
  for (let n = 0; n <= waiting; n++) {
    const to = ['--edge', relay.url, '--repo', REPO, '--cache', join(dir, `cache-${n}`)]
    const env = { SIGNALBOX_TOKEN: await tokenOf('board:write') }
    const place = { dir, waitMs: START_WAIT_MS, env }
    const sidecar = await startNode([SIGNALBOX, 'watch', board.dir, ...to], READY, place)
    stack.defer(() => sidecar.stop())
  }
  const token = await tokenOf('board:read')
  for (let n = 0; n < pages; n++) {
    const page = watchBoard({ url: relay.url, path: REPO, token, onTasks: () => undefined })
    stack.defer(() => page.close())
  }
  await sleep(settleMs)
  const before = { requests: relay.requests(), frames: relay.frames(), at: Date.now() }
  const read = readFileSync(log, 'utf8').length
  await sleep(forMs)
  const after = countsIn(readFileSync(log, 'utf8').slice(read))
  const sum = (of: ReadonlyMap<string, number>) => [...of.values()].reduce((all, n) => all + n, 0)
  const requests = sum(relay.requests()) - sum(before.requests)
  const frames = relay.frames() - before.frames
  const headers = { Authorization: `Bearer ${token}` }
  const status = await fetch(`${edge.url}/api/status?path=${REPO}`, { headers })
  const { awakeSince } = (await status.json()) as { awakeSince: string }
  return {
    requests,
    frames,
    did: after,
    /** The object was asleep when it was asked at the end. */
    slept: Date.parse(awakeSince) > before.at,
  }
}

/** Its objects write down what they do. */
const prepareCounted: PrepareEdge = (plan) =>
  prepareWorkerd(plan, async (main, script) => {
    const entry = join(plan.dir, 'counted.ts')
    const from = (file: string) => JSON.stringify(file)
    const lines = [
      `import { counted } from ${from(join(import.meta.dirname, 'rest/counted-object.ts'))}`,
      `import edge, * as all from ${from(main)}`,
      `export * from ${from(main)}`,
      'export default edge',
      'export const RepositoryObject = counted(all.RepositoryObject)',
      'export const DirectoryObject = counted(all.DirectoryObject)',
    ]
    await writeFile(entry, lines.join('\n'))
    await bundleWorker(entry, script)
  })
