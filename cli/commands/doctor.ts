// Says what would keep a sidecar from doing its work here: one check a line, each with its reason.

import { EdgeHttp } from '../../sidecar/publish/edge-http.ts'
import type { World } from '../command.ts'
import { type RunningStart, runningStart } from '../data-folder.ts'
import { checkBoard, checkInotify } from '../doctor/board.ts'
import { checkEdgeClock } from '../doctor/clock.ts'
import { checkEdge, checkToken } from '../doctor/edge.ts'
import { type Finding, report, warn } from '../findings.ts'
import type { Settings } from '../settings.ts'
import { BOARD } from './publish-settings.ts'

const EDGE_TIMEOUT_MS = 10_000

export async function run(settings: Settings, world: World): Promise<number> {
  const dir = settings.positional(BOARD)
  const start = await runningStart(settings)
  const edge = start ? edgeOf(start) : readEdge(settings)
  const isWithPayments = settings.has('payments')
  if (!isWithPayments && settings.given('env') !== undefined) {
    settings.malformed('--env needs --payments')
  }
  settings.check()
  const { findings, store, files } = await checkBoard(dir)
  if (store) findings.push(...(await checkInotify(store, files)))
  if (edge) findings.push(...(await checkEdgeAt(edge)))
  else findings.push(warn('edge', 'Not checked: name one with --edge or --data.'))
  if (isWithPayments) {
    const { check } = await import('../payments/doctor.ts')
    findings.push(...(await check(settings, world)))
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
