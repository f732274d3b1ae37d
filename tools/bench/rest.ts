// The benchmark `rest`: what an idle board asks of an edge on workerd, without pages and with some
// that are open and visible, here and in an earlier version.

import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { watchBoard } from '../../libraries/client/index.ts'
import { readAuth } from '../../worker/shared/auth-config.ts'
import { hostClock } from '../../worker/shared/clock.ts'
import { createTokens } from '../../worker/shared/tokens.ts'
import { prepareWorkerd } from '../start/workerd.ts'
import { type BenchRun, circumstances, type Result, type Verdict } from './bench.ts'
import { makeBoard } from './board.ts'
import { startNode } from './child.ts'
import { startCountingRelay } from './counting-relay.ts'
import { AUTH_SECRET, startEdge } from './payments/edge.ts'
import { measuredOn, type Picture } from './plot/picture.ts'
import { HOME } from './target.ts'

const FULL = { pages: [0, 10], tasks: 100, settleMs: 40_000, forMs: 600_000 }
const QUICK: typeof FULL = { pages: [0, 2], tasks: 20, settleMs: 2_000, forMs: 5_000 }
const READY_MS = 60_000
const DAY_MS = 86_400_000
const TARGETS = { boardAnHour: 5, pageADay: 3_000 }
const REPO = 'bench'

interface RestRow {
  version: 'this' | 'before'
  pages: number
  forMs: number
  /** Of the whole time, by method and path. */
  requests: Record<string, number>
  frames: number
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
      plan.pages.map((pages) => measureRest({ ...plan, version, home, pages }, run)),
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

interface RestPlan extends Omit<typeof FULL, 'pages'> {
  version: RestRow['version']
  home: string
  pages: number
}

async function measureRest(plan: RestPlan, { workDir }: BenchRun): Promise<RestRow> {
  const { version, home, pages, settleMs, forMs } = plan
  await using stack = new AsyncDisposableStack()
  const dir = join(workDir, `rest-${version}-${pages}`)
  const board = makeBoard(join(dir, 'board'), plan.tasks)
  const edge = await startEdge(prepareWorkerd, dir, home, { AUTH_SECRETS: AUTH_SECRET })
  stack.defer(() => edge.stop())
  const relay = await startCountingRelay(edge.port)
  stack.defer(() => relay.close())
  const tokens = createTokens(readAuth({ AUTH_SECRETS: AUTH_SECRET }), { clock: hostClock, fetch })
  const tokenOf = (scope: string) =>
    tokens.sign({ sub: 'bench', scope, repos: [REPO] }, 'api', Date.now() + DAY_MS)
  const to = ['--edge', relay.url, '--repo', REPO, '--cache', join(dir, 'cache')]
  const sidecar = await startNode(
    [join(home, 'cli/bin.js'), 'watch', board.dir, ...to],
    /"boards\.ready"/,
    READY_MS,
    { cwd: home, env: { SIGNALBOX_TOKEN: await tokenOf('board:write') } },
  )
  stack.defer(() => sidecar.stop())
  const token = await tokenOf('board:read')
  const client: { watchBoard: typeof watchBoard } = await import(
    join(home, 'libraries/client/index.ts')
  )
  for (let n = 0; n < pages; n++) {
    const page = client.watchBoard({ url: relay.url, path: REPO, token, onTasks: () => undefined })
    stack.defer(() => page.close())
  }
  await sleep(settleMs)
  const before = { requests: relay.requests(), frames: relay.frames(), at: Date.now() }
  await sleep(forMs)
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
    ...{ version, pages, forMs, frames },
    requests: Object.fromEntries(asked.filter(([, times]) => times > 0)),
    requestsADay: aDay(all),
    framesADay: aDay(frames),
    slept: Date.parse(awakeSince) > before.at,
  }
}

/** Of one page: what its board asks anyway is taken off. */
const ofAPage = (rows: readonly RestRow[], row: RestRow): number => {
  const alone = rows.find(({ version, pages }) => version === row.version && pages === 0)
  return Math.round((row.requestsADay - (alone?.requestsADay ?? 0)) / row.pages)
}

function verdictsOf(rows: readonly RestRow[]): Verdict[] {
  return rows
    .filter(({ version }) => version === 'this')
    .map((row) => {
      const isAlone = row.pages === 0
      const limit = isAlone ? TARGETS.boardAnHour : TARGETS.pageADay
      const value = isAlone ? Math.round(row.requestsADay / 24) : ofAPage(rows, row)
      const unit = isAlone ? 'requests an hour' : 'requests a day'
      return {
        what: isAlone ? 'an idle board' : 'a page that is visible all day',
        target: `${limit} ${unit}`,
        measured: `${value} ${unit}, ${row.framesADay} frames a day, slept: ${row.slept}`,
        reached: value <= limit,
      }
    })
}

const inWords = ({ version, pages, requests, requestsADay, framesADay, slept }: RestRow) =>
  `${version}, ${pages} pages: ${requestsADay} requests and ${framesADay} frames a day ` +
  `(${JSON.stringify(requests)}), slept: ${slept}`

export function restPicture({ machine, rows, targets }: RestResult): Picture {
  const color = { this: '#1d63d8', before: '#7a8490' }
  const alone = rows.filter(({ pages }) => pages === 0)
  const watched = rows.filter(({ pages }) => pages > 0)
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
            bars: watched.map((row) => ({ color: color[row.version], value: ofAPage(rows, row) })),
          },
        ],
      },
    ],
  }
}
