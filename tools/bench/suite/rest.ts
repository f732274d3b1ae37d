// The benchmark `rest`: what an idle board asks of an edge on workerd, alone, with pages that are
// open and visible, and with a second sidecar that waits.

import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { watchBoard } from '../../../libraries/client/index.ts'
import { SIGNALBOX } from '../../harness/config.ts'
import { bundleWorker } from '../../start/bundle.ts'
import type { PrepareEdge } from '../../start/edge-plan.ts'
import { prepareWorkerd } from '../../start/workerd.ts'
import { type Bench, reporter } from '../bench.ts'
import { makeBoard } from '../board.ts'
import { startCountingRelay } from '../counting-relay.ts'
import { BOARDS_READY, startEdge, startNode, tokenFor } from '../programs.ts'
import { LABEL } from '../target.ts'

/** An hour, since the board is compared once in one. */
const FULL = { tasks: 100, settleMs: 60_000, forMs: 3_600_000 }
const QUICK: typeof FULL = { tasks: 20, settleMs: 2_000, forMs: 5_000 }
const PAGES = 10
const HOUR_MS = 3_600_000
const MOST = { boardAnHour: 5, constructionsAnHour: 2, pageADay: 3_000 }
const REPO = 'bench'

export const runRest: Bench = async (run) => {
  const plan = run.isQuick ? QUICK : FULL
  // All at once: they are counted, and not timed.
  const [alone, pages, waits] = await Promise.all([
    measure({ ...plan, pages: 0, waiting: 0 }, join(run.workDir, 'alone')),
    measure({ ...plan, pages: PAGES, waiting: 0 }, join(run.workDir, 'pages')),
    measure({ ...plan, pages: 0, waiting: 1 }, join(run.workDir, 'waits')),
  ])
  const hours = plan.forMs / HOUR_MS
  const show = reporter(run, LABEL.signalbox)
  const { requests, did } = alone
  show('an idle board', 'requests an hour', requests / hours, MOST.boardAnHour)
  show('an idle board', 'frames an hour', alone.frames / hours)
  const constructions = did('constructions') / hours
  show('an idle board', 'constructions an hour', constructions, MOST.constructionsAnHour)
  show('an idle board', 'alarms an hour', did('alarms') / hours)
  show('an idle board', 'rows an hour', did('rows') / hours)
  // What their board asks anyway is taken off.
  const aPage = ((pages.requests - requests) / PAGES / hours) * 24
  show('a page that is visible all day', 'requests a day', aPage, MOST.pageADay)
  const waiting = (waits.requests - requests) / hours
  show('a sidecar that waits', 'requests an hour', waiting, MOST.boardAnHour)
  show('an idle board, asleep at the end', 'of 1', Number(alone.slept))
}

type Plan = typeof FULL & { pages: number; waiting: number }

async function measure({ pages, waiting, tasks, settleMs, forMs }: Plan, dir: string) {
  await using stack = new AsyncDisposableStack()
  const board = makeBoard(join(dir, 'board'), tasks)
  const edge = stack.use(await startEdge(prepareCounted, dir))
  const relay = stack.use(await startCountingRelay(edge.port))
  const tokenOf = (scope: string) => tokenFor(scope, { repos: [REPO], sub: 'bench' })
  for (let n = 0; n <= waiting; n++) {
    const to = ['--edge', relay.url, '--repo', REPO, '--cache', join(dir, `cache-${n}`)]
    const place = { dir, env: { SIGNALBOX_TOKEN: await tokenOf('board:write') } }
    const args = [SIGNALBOX, 'watch', board.dir, ...to]
    stack.use((await startNode(args, BOARDS_READY, place)).program)
  }
  const token = await tokenOf('board:read')
  for (let n = 0; n < pages; n++) {
    const page = watchBoard({ url: relay.url, path: REPO, token, onTasks: () => undefined })
    stack.defer(() => page.close())
  }
  await sleep(settleMs)
  const log = () => readFileSync(join(dir, 'edge.log'), 'utf8')
  const asked = () => {
    const { frame = 0, ...requests } = relay.counts()
    return { frame, requests: Object.values(requests).reduce((all, n) => all + n, 0) }
  }
  const before = { ...asked(), at: Date.now(), read: log().length }
  await sleep(forMs)
  const after = asked()
  const counted = log().slice(before.read)
  const headers = { Authorization: `Bearer ${token}` }
  const status = await fetch(`${edge.url}/api/status?path=${REPO}`, { headers })
  const { awakeSince } = (await status.json()) as { awakeSince: string }
  return {
    requests: after.requests - before.requests,
    frames: after.frame - before.frame,
    /** What the objects wrote down of themselves. */
    did: (what: string): number =>
      [...counted.matchAll(/^counted (\w+) (\d+)$/gm)]
        .filter(([, it]) => it === what)
        .reduce((all, [, , n]) => all + Number(n), 0),
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
      `import { counted } from ${from(join(import.meta.dirname, '../counted-object.ts'))}`,
      `import edge, * as all from ${from(main)}`,
      `export * from ${from(main)}`,
      'export default edge',
      'export const RepositoryObject = counted(all.RepositoryObject)',
      'export const DirectoryObject = counted(all.DirectoryObject)',
    ]
    await writeFile(entry, lines.join('\n'))
    await bundleWorker(entry, script)
  })
