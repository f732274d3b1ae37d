// Says what would keep payments from working: one check a line, each with its reason.

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Command } from './command.ts'
import { configuredGateways } from './configured.ts'
import { checkClocks } from './doctor-clock.ts'
import { checkConfig } from './doctor-config.ts'
import { checkDatabase, type Scripts } from './doctor-database.ts'
import { checkEdge } from './doctor-edge.ts'
import { checkGateway } from './doctor-gateway.ts'
import { checkSecrets } from './doctor-secrets.ts'
import { type Finding, warn } from './finding.ts'
import { hidingIo, secretValues } from './hide.ts'
import { mixtureOf } from './money-mode.ts'
import { readPlace } from './place.ts'

const HOME = join(import.meta.dirname, '../..')
const DEFAULT_TOLERANCE_MS = 300_000

export const doctor = {
  name: 'payments doctor',
  usage: '[--edge URL | --data DIR] [--env-file FILE] [options]',
  summary: 'checks the configuration, its secrets, the database, gateways, clocks and the edge',
  about: `\
Reads signalbox.config.ts and the environment (or --env-file, or what a running \`npm start\` has),
reads the database, asks each gateway for an access token and, when an edge is named, sends each of
its webhook routes one callback that is not signed and one that is about nothing. Charges nothing
and stores nothing; the edge logs both, and tells the first as WebhookVerificationFailed.
Prints one line a check: ok, warn or error. Never prints a secret.`,
  options: ['edge', 'data', 'env-file', 'token-file', 'json', 'help'],
  async run(flags, io, surroundings) {
    const { file } = surroundings
    const place = await readPlace(flags, surroundings)
    const isJson = flags.has('json')
    flags.positionals([])
    flags.check()
    const gateways = configuredGateways(file, place.env)
    const { findings, payments } = checkConfig(file, place.env, gateways)
    const touched = gateways.filter(({ required, missing }) => missing.length < required.length)
    findings.push(...touched.flatMap(checkSecrets))
    const mixture = mixtureOf(gateways)
    if (mixture !== undefined) findings.push(warn('config', mixture))
    for (const name of place.differing) {
      const sentence = `The running system has other variables of ${name} than this shell.`
      findings.push(warn('config', sentence))
    }

    const { edge: url, token } = place
    const [database, checked, edge] = await Promise.all([
      payments ? checkDatabase(payments.database, await readScripts(), Date.now()) : [],
      Promise.all(
        [...(payments?.gateways.values() ?? [])].map(async (gateway) => {
          const configured = gateways.find(({ key }) => key === gateway.key)
          return configured && { key: gateway.key, ...(await checkGateway(gateway, configured)) }
        }),
      ),
      url === undefined ? undefined : checkEdge({ url, token }, file, touched),
    ])
    const reached = checked.filter((it) => it !== undefined)
    findings.push(...database, ...reached.flatMap((it) => it.findings))
    findings.push(...(edge?.findings ?? [warn('edge', 'Not checked: no --edge was given.')]))
    const skews = reached.flatMap(({ key, skewMs }): [string, number][] =>
      skewMs === undefined ? [] : [[key, skewMs]],
    )
    const clocks = { edge: edge?.skewMs, gateways: new Map(skews) }
    findings.push(...checkClocks(clocks, payments?.toleranceMs || DEFAULT_TOLERANCE_MS))
    const isHealthy = findings.every(({ level }) => level !== 'error')
    const quiet = hidingIo(io, secretValues(place.env, gateways))
    quiet.out(isJson ? `${JSON.stringify({ ok: isHealthy, findings })}\n` : lines(findings))
    return isHealthy ? 0 : 1
  },
} satisfies Command

function lines(findings: readonly Finding[]): string {
  const width = Math.max(...findings.map(({ about }) => about.length))
  return findings
    .map(
      ({ level, about, sentence }) => `${level.padEnd(5)}  ${about.padEnd(width)}  ${sentence}\n`,
    )
    .join('')
}

async function readScripts(): Promise<Scripts> {
  const [schema, migration] = await Promise.all(
    ['schema.sql', 'migrations/2.sql'].map((name) => readFile(join(HOME, name), 'utf8')),
  )
  return { schema: schema ?? '', migration: migration ?? '' }
}
