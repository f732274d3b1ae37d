// Says what would keep a sidecar from doing its work here: one check a line, each with its reason.

import { findBoard } from '../../local/find-board.ts'
import { EdgeHttp } from '../../sidecar/publish/edge-http.ts'
import type { World } from '../command.ts'
import {
  NO_DATA,
  NO_EDGE,
  type RunningStart,
  runningStart,
  systemIn,
  takenFrom,
} from '../data-folder.ts'
import { checkBoard, checkInotify, noBoard } from '../doctor/board.ts'
import { checkEdgeClock } from '../doctor/clock.ts'
import { checkEdge, checkToken } from '../doctor/edge.ts'
import { type Finding, report, warn } from '../findings.ts'
import type { Settings } from '../settings.ts'

const EDGE_TIMEOUT_MS = 10_000

export async function run(settings: Settings, world: World): Promise<number> {
  const given = settings.optionalPositional('doctor')
  const named = await runningStart(settings)
  const elsewhere = named ? undefined : readEdge(settings)
  const isWithPayments = settings.has('payments')
  if (!isWithPayments) settings.needless(['env', 'no-config'], 'without --payments')
  settings.check()
  const followsLinks = settings.has('follow-links')
  // A link that leads elsewhere is a finding about the board, below.
  const found = await findBoard(given ?? world.cwd, true)
  const dir = given ?? found?.project
  const board = dir === undefined ? noBoard(world.cwd) : await checkBoard(dir, followsLinks)
  const { store, files } = board
  const here = store && found && !named ? await systemIn(found.project, settings) : undefined
  const findings = [...(here ? [takenFrom(here)] : []), ...board.findings]
  if (store) findings.push(...(await checkInotify(store, files)))
  const start = named ?? here
  if (!start) settings.needless(['trust-data'], NO_DATA)
  settings.check()
  const edge = start ? edgeOf(start) : elsewhere
  if (edge) findings.push(...(await checkEdgeAt(edge)))
  // After an error about the board it would only distract; the check of payments says it too.
  else if (store && !isWithPayments) findings.push(warn('edge', NO_EDGE))
  if (isWithPayments) {
    const { check } = await import('../payments/doctor.ts')
    findings.push(...(await check(settings, world, here)))
  }
  return report(findings, settings.has('json'), world.io)
}

interface EdgePlace {
  url: URL
  repo: string
  token: (() => Promise<string>) | undefined
}

function readEdge(settings: Settings): EdgePlace | undefined {
  const url = settings.url('edge', false)
  if (settings.text('edge') === undefined) {
    settings.needless(['repo', 'token-file'], 'without --edge')
  }
  return url && { url, repo: settings.required('repo'), token: settings.token() }
}

const edgeOf = ({ local }: RunningStart): EdgePlace => ({
  url: new URL(local.url),
  repo: local.path,
  token: () => Promise.resolve(local.tokens.sidecar),
})

async function checkEdgeAt({ url, repo, token }: EdgePlace): Promise<Finding[]> {
  const { finding, text } = await checkToken(token, repo)
  const skews: number[] = []
  const http = new EdgeHttp({
    url,
    repo,
    token: () => Promise.resolve(text ?? 'none'),
    timeoutMs: EDGE_TIMEOUT_MS,
    onSkew: (skewMs) => skews.push(skewMs),
  })
  const edge = checkEdge(url, await http.probe(), text !== undefined)
  http.close()
  const [skewMs] = skews
  return [finding, ...edge, ...(skewMs === undefined ? [] : [checkEdgeClock(skewMs)])]
}
