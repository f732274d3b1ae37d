// The benchmark `rest`: what an idle board asks of an edge on workerd, alone, with pages that are
// open and visible, and with a second sidecar that waits, here and in an earlier version.

import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { watchBoard } from '../../libraries/client/index.ts'
import { bundleWorker } from '../start/bundle.ts'
import type { PrepareEdge } from '../start/edge.ts'
import { prepareWorkerd } from '../start/workerd.ts'
import { type BenchRun, circumstances, type Result, type Verdict } from './bench.ts'
import { makeBoard } from './board.ts'
import { startNode } from './child.ts'
import { startCountingRelay } from './counting-relay.ts'
import { AUTH_SECRET, startEdge, tokenFor } from './payments/edge.ts'
import { measuredOn, type Picture } from './plot/picture.ts'
import { type Counts, countsIn } from './rest/counts.ts'
import { HOME } from './target.ts'

/** An hour, since the board is compared once in one. */
const FULL = { tasks: 100, settleMs: 60_000, forMs: 3_600_000 }
const QUICK: typeof FULL = { tasks: 20, settleMs: 2_000, forMs: 5_000 }
const CASES = [
  { pages: 0, waiting: 0 },
  { pages: 10, waiting: 0 },
  { pages: 0, waiting: 1 },
] as const
const READY_MS = 60_000
const HOUR_MS = 3_600_000
const DAY_MS = 86_400_000
const TARGETS = { boardAnHour: 5, constructionsAnHour: 2, pageADay: 3_000 }
const REPO = 'bench'

interface RestRow {
  version: 'this' | 'before'
  pages: number
  /** Sidecars beside the one that publishes. */
  waiting: number
  forMs: number
  /** In the whole time, by method and path. */
  requests: Record<string, number>
  frames: number
  /** What the objects did. */
  did: Counts
  /** Scaled to a day. */
  requestsADay: number
  framesADay: number
  /** The object was asleep when it was asked at the end. */
  slept: boolean
}

interface RestResult extends Result {
  targets: typeof TARGETS
  rows: RestRow[]
}

export async function runRest(run: BenchRun): Promise<RestResult> {
  const startedAt = performance.now()
  const plan = run.isQuick ? QUICK : FULL
  const homes: [RestRow['version'], string][] = [['this', HOME]]
  if (run.beforeDir !== undefined) homes.push(['before', run.beforeDir])
  // All at once: they are counted, and not timed.
  const rows = await Promise.all(
    homes.flatMap(([version, home]) =>
      CASES.map((beside) => measureRest({ ...plan, ...beside, version, home }, run)),
    ),
  )
  for (const row of rows) run.say(inWords(row))
  return {
    ...circumstances(run.command, startedAt),
    targets: TARGETS,
    verdicts: verdictsOf(rows),
    rows,
  }
}

type RestPlan = typeof FULL &
  Pick<RestRow, 'version' | 'pages' | 'waiting'> & {
    home: string
  }

async function measureRest(plan: RestPlan, { workDir }: BenchRun): Promise<RestRow> {
  const { version, home, pages, waiting, settleMs, forMs } = plan
  await using stack = new AsyncDisposableStack()
  const dir = join(workDir, `rest-${version}-${pages}-${waiting}`)
  const board = makeBoard(join(dir, 'board'), plan.tasks)
  const edge = await startEdge(prepareCounted, dir, home, { AUTH_SECRETS: AUTH_SECRET })
  const did = () => countsIn(readFileSync(join(dir, 'edge.log'), 'utf8'))
  stack.defer(() => edge.stop())
  const relay = await startCountingRelay(edge.port)
  stack.defer(() => relay.close())
  const tokenOf = (scope: string) => tokenFor(scope, { repos: [REPO], sub: 'bench' })
  for (let n = 0; n <= waiting; n++) {
    const to = ['--edge', relay.url, '--repo', REPO, '--cache', join(dir, `cache-${n}`)]
    const sidecar = await startNode(
      [join(home, 'cli/bin.js'), 'watch', board.dir, ...to],
      /"boards\.ready"/,
      READY_MS,
      { cwd: home, env: { SIGNALBOX_TOKEN: await tokenOf('board:write') } },
    )
    stack.defer(() => sidecar.stop())
  }
  const token = await tokenOf('board:read')
  const client: { watchBoard: typeof watchBoard } = await import(
    join(home, 'libraries/client/index.ts')
  )
  for (let n = 0; n < pages; n++) {
    const page = client.watchBoard({ url: relay.url, path: REPO, token, onTasks: () => undefined })
    stack.defer(() => page.close())
  }
  await sleep(settleMs)
  const before = { requests: relay.requests(), frames: relay.frames(), did: did(), at: Date.now() }
  await sleep(forMs)
  const after = did()
  const asked = [...relay.requests()].map(([what, times]) => {
    return [what, times - (before.requests.get(what) ?? 0)] as const
  })
  const frames = relay.frames() - before.frames
  const headers = { Authorization: `Bearer ${token}` }
  const status = await fetch(`${edge.url}/api/status?path=${REPO}`, { headers })
  const { awakeSince } = (await status.json()) as { awakeSince: string }
  const all = asked.reduce((sum, [, times]) => sum + times, 0)
  const aDay = (times: number) => Math.round((times * DAY_MS) / forMs)
  return {
    version,
    pages,
    waiting,
    forMs,
    frames,
    did: {
      constructions: after.constructions - before.did.constructions,
      alarms: after.alarms - before.did.alarms,
      rows: after.rows - before.did.rows,
    },
    requests: Object.fromEntries(asked.filter(([, times]) => times > 0)),
    requestsADay: aDay(all),
    framesADay: aDay(frames),
    slept: Date.parse(awakeSince) > before.at,
  }
}

/** The objects of `home` write down what they do. */
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

const isAlone = ({ pages, waiting }: RestRow): boolean => pages + waiting === 0

/** What one page or sidecar asks: what its board asks anyway is taken off. */
const ofEach = (rows: readonly RestRow[], row: RestRow): number => {
  const alone = rows.find((it) => it.version === row.version && isAlone(it))
  return Math.round((row.requestsADay - (alone?.requestsADay ?? 0)) / (row.pages + row.waiting))
}

function verdictsOf(rows: readonly RestRow[]): Verdict[] {
  const verdict = (what: string, value: number, limit: number, unit: string): Verdict => ({
    what,
    target: `${limit} ${unit}`,
    measured: `${value} ${unit}`,
    reached: value <= limit,
  })
  return rows
    .filter(({ version }) => version === 'this')
    .flatMap((row) => {
      if (row.pages > 0) {
        const what = 'a page that is visible all day'
        return verdict(what, ofEach(rows, row), TARGETS.pageADay, 'requests a day')
      }
      if (row.waiting > 0) {
        const anHour = Math.round(ofEach(rows, row) / 24)
        return verdict('a sidecar that waits', anHour, TARGETS.boardAnHour, 'requests an hour')
      }
      const asked = Math.round(row.requestsADay / 24)
      const made = Math.round((row.did.constructions * HOUR_MS) / row.forMs)
      return [
        verdict('an idle board', asked, TARGETS.boardAnHour, 'requests an hour'),
        verdict('its objects', made, TARGETS.constructionsAnHour, 'constructions an hour'),
      ]
    })
}

const inWords = ({ version, pages, waiting, requests, frames, did, slept }: RestRow) =>
  `${version}, ${pages} pages, ${waiting} waiting: ${JSON.stringify(requests)}, ` +
  `${frames} frames, slept: ${slept}; objects: ${JSON.stringify(did)}`

export function restPicture({ machine, rows, targets }: RestResult): Picture {
  const color = { this: '#1d63d8', before: '#7a8490' }
  const alone = rows.filter(isAlone)
  const each = (of: 'pages' | 'waiting') =>
    rows
      .filter((row) => row[of] > 0)
      .map((row) => ({ color: color[row.version], value: ofEach(rows, row) }))
  const format = (value: number) => Math.round(value).toLocaleString('en')
  return {
    title: 'What an idle board asks of the edge',
    about: [
      'Requests to the Worker, counted by a relay, for a day. Blue: this version; grey: an earlier one.',
      measuredOn(machine, 'all on the same machine'),
    ],
    parts: [
      {
        note: 'A board of which no task changes',
        bars: [
          {
            title: 'The board alone',
            target: targets.boardAnHour * 24,
            format,
            bars: alone.map((row) => ({ color: color[row.version], value: row.requestsADay })),
          },
          {
            title: 'A page that is visible',
            target: targets.pageADay,
            format,
            bars: each('pages'),
          },
          {
            title: 'A second sidecar, which waits',
            target: targets.boardAnHour * 24,
            format,
            bars: each('waiting'),
          },
        ],
      },
    ],
  }
}
