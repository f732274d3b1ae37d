// Checks what would keep a sidecar from its work here: one check a line, each with its reason.

import { resolve } from 'node:path'
import { EdgeHttp } from '../../sidecar/publish/edge-http.ts'
import { findProject } from '../../system/find-board.ts'
import { tokenSource } from '../access-token.ts'
import { define } from '../command.ts'
import type { Context } from '../context.ts'
import { checkBoards, checkInotify, noBoard } from '../doctor/board.ts'
import { checkEdgeClock } from '../doctor/clock.ts'
import {
  checkEdge,
  checkEnvironment,
  checkHealth,
  checkNotices,
  checkToken,
} from '../doctor/edge.ts'
import { type Finding, NO_EDGE, report, takenFrom, warn } from '../doctor/findings.ts'
import { NO_DATA, type RunningStart, runningStart, systemIn } from '../running-system.ts'
import { type OptionsOf, Setting } from '../setting.ts'
import {
  EDGE,
  ENV,
  FOLLOW_LINKS,
  JSON_OUTPUT,
  NO_CONFIG,
  REPO,
  RUNNING,
  TOKEN_FILE,
} from '../settings.ts'
import { type Input, missing, refuseNeedless } from '../usage.ts'

const EDGE_TIMEOUT_MS = 10_000

const OPTIONS = [
  FOLLOW_LINKS,
  EDGE,
  REPO,
  TOKEN_FILE,
  ...RUNNING,
  new Setting('--payments', 'check payments too, as signalbox payments doctor does'),
  NO_CONFIG,
  ENV,
  JSON_OUTPUT,
] as const

type DoctorOptions = OptionsOf<typeof OPTIONS>

export const command = define({
  argument: ['DIR', 'folder of the project [this folder, or one above it]'],
  usage: '[DIR] [--edge URL --repo NAME | --data DIR] [--payments] [options]',
  description: `\
Checks the boards of the project and below, and the limits of this machine. With an edge, it also
checks whether the edge answers, its clock and the token. With --payments it goes on with the checks
of signalbox payments doctor. It changes nothing. With --data, the edge, the repository and the
token are those of the running signalbox that uses this folder, and all of its boards are checked;
without --edge and --data, of the one that runs in the project or above it, if there is one. Prints
one line for each check: ok, warn or error.`,
  options: OPTIONS,
  run,
})

async function run(input: Input<DoctorOptions>, context: Context): Promise<number> {
  const { options } = input
  const [given] = input.arguments
  const { env, cwd } = context
  const named = await runningStart(input, env)
  const namedEdge = named ? undefined : readEdge(input, context)
  const { payments: isWithPayments = false } = options
  if (!isWithPayments) refuseNeedless(input, ['--env', '--no-config'], 'without --payments')
  // A server may have none.
  const isServer = named?.served !== undefined
  const folder = resolve(cwd, given ?? '.')
  const project = isServer ? undefined : await findProject(folder)
  // A system that was named is checked from anywhere.
  const ofSystem = given === undefined ? named?.local.boards : undefined
  const dirs = ofSystem?.map(({ dir }) => dir) ?? [project ?? folder]
  const search = { followsLinks: options.followLinks }
  const { findings: ofBoards, ...boards } = await checkBoards(dirs, search, namedEdge?.repo)
  const isBroken = boards.stores.length === 0 && (ofBoards.length > 0 || given !== undefined)
  const isElsewhere = named !== undefined || isBroken
  const here = isElsewhere ? undefined : await systemIn(project ?? cwd, input, env)
  const start = named ?? here
  const findings = [...(here ? [takenFrom(here)] : []), ...ofBoards]
  if (ofBoards.length === 0 && !isServer) findings.push(noBoard(folder, start?.local.tokens))
  if (boards.stores.length > 0) findings.push(...(await checkInotify(boards.stores, boards.files)))
  if (!start) refuseNeedless(input, ['--trust-data'], NO_DATA)
  const edge = start ? edgeOf(start) : namedEdge
  const url = edge?.url ?? (start && new URL(start.local.url))
  // The check of payments asks it, too.
  if (url && !isWithPayments) findings.push(...(await checkHealth(url)))
  if (edge) findings.push(...(await checkEdgeAt(edge, namedEdge ? boards.names : [])))
  // After an error about the board it would only distract; the check of payments has it, too.
  else if (boards.stores.length > 0 && !isWithPayments) findings.push(warn('edge', NO_EDGE))
  if (isWithPayments) {
    const { checkPayments } = await import('../doctor/payments.ts')
    findings.push(...(await checkPayments(input, context, here)))
  } else {
    // The check of payments has it, too, with the variables of gateways.
    const variables = start?.served?.variables ?? env
    findings.push(...checkEnvironment(variables, {}))
  }
  return report(findings, options.json, context.io)
}

interface NamedEdge {
  url: URL
  repo: string
  token: (() => Promise<string>) | undefined
}

function readEdge(input: Input<DoctorOptions>, { env }: Context): NamedEdge | undefined {
  const { edge: url, repo } = input.options
  if (!url) {
    refuseNeedless(input, ['--repo', '--token-file'], 'without --edge')
    return undefined
  }
  if (repo === undefined) throw missing({ [REPO.meaning]: repo })
  return { url, repo, token: tokenSource(input, env) }
}

/** Sidecars may publish any board to a server; the check is the same for each. */
const ANY = 'any'

/** Undefined: it has no board. */
function edgeOf({ local: { url, path, tokens } }: RunningStart): NamedEdge | undefined {
  const { sidecar } = tokens
  return sidecar === undefined
    ? undefined
    : { url: new URL(url), repo: path === '*' ? ANY : path, token: () => Promise.resolve(sidecar) }
}

/** `names`: of all boards that would be published there; none: that of `named`. */
async function checkEdgeAt(named: NamedEdge, names: readonly string[]): Promise<Finding[]> {
  const { url, token } = named
  const [repo = named.repo] = names
  const { finding, text } = await checkToken(token, names.length > 0 ? names : [repo])
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
  const clock = skewMs === undefined ? [] : [checkEdgeClock(skewMs)]
  const notices =
    text === undefined ? [] : await checkNotices({ url: url.origin, token: text }, repo)
  return [finding, ...edge, ...clock, ...notices]
}
