// Reports what stops payments from working: one check per line, each with its reason.

import { findBoard } from '../../local/find-board.ts'
import type { Context, Input } from '../command.ts'
import { NO_EDGE, type RunningStart, systemIn, takenFrom } from '../data-folder.ts'
import { checkClocks } from '../doctor/clock.ts'
import { type Finding, report, warn } from '../findings.ts'
import { configuredGateways } from './configured.ts'
import { checkConfig } from './doctor-config.ts'
import { checkDatabase } from './doctor-database.ts'
import { checkEdge } from './doctor-edge.ts'
import { checkGateway } from './doctor-gateway.ts'
import { checkSecrets } from './doctor-secrets.ts'
import { hiding, secretValues } from './hide.ts'
import { mixtureOf } from './money-mode.ts'
import { type PlaceOptions, readPlace } from './place.ts'

const DEFAULT_TOLERANCE_MS = 300_000

export async function run(
  input: Input<PlaceOptions & { json?: boolean }>,
  context: Context,
): Promise<number> {
  const { cwd, env, io } = context
  const project = (await findBoard(cwd, true))?.project ?? cwd
  const here = await systemIn(project, input, env)
  const findings = [...(here ? [takenFrom(here)] : []), ...(await check(input, context, here))]
  return report(findings, input.options.json, io)
}

/** `signalbox doctor --payments` prints these too. No finding holds a secret. */
export async function check(
  input: Input<PlaceOptions>,
  context: Context,
  here?: RunningStart,
): Promise<Finding[]> {
  const { file, env, edge: url, token, differing } = await readPlace(input, context, here)
  const gateways = configuredGateways(file, env)
  const { findings, payments } = checkConfig(file, env, gateways)
  const used = gateways.filter(({ required, missing }) => missing.length < required.length)
  findings.push(...used.flatMap(checkSecrets))
  const mixture = mixtureOf(gateways)
  if (mixture !== undefined) findings.push(warn('config', mixture))
  for (const name of differing) {
    const sentence = `The variables of ${name} differ between the running system and this shell.`
    findings.push(warn('config', sentence))
  }

  const [database, checked, edge] = await Promise.all([
    payments ? checkDatabase(payments.database, Date.now()) : [],
    Promise.all(
      [...(payments?.gateways.values() ?? [])].map(async (gateway) => {
        const configured = gateways.find(({ key }) => key === gateway.key)
        return configured && { key: gateway.key, ...(await checkGateway(gateway, configured)) }
      }),
    ),
    url === undefined ? undefined : checkEdge({ url, token }, file, used),
  ])
  const reached = checked.filter((it) => it !== undefined)
  findings.push(...database, ...reached.flatMap((it) => it.findings))
  findings.push(...(edge?.findings ?? [warn('edge', NO_EDGE)]))
  const skews = reached.flatMap(({ key, skewMs }): [string, number][] =>
    skewMs === undefined ? [] : [[key, skewMs]],
  )
  const clocks = { edge: edge?.skewMs, gateways: new Map(skews) }
  findings.push(...checkClocks(clocks, payments?.toleranceMs || DEFAULT_TOLERANCE_MS))
  const hide = hiding(secretValues(env, gateways))
  return findings.map((finding) => ({ ...finding, sentence: hide(finding.sentence) }))
}
