// `npm run prove`: runs the real system under load and faults, writes a history of what is seen,
// and has it checked. docs/reliability.md says more.

import { mkdirSync, readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { checkHistory } from './checker/check.ts'
import { FAULTS, faultsOf } from './recorder/faults.ts'
import { prove } from './recorder/prove.ts'
import { summaryOf } from './recorder/summary.ts'

const USAGE = `usage: npm run prove -- [options]
  --fault NAME [--fault NAME]  --seed N  --for 60s|10m  --host workerd|deno  --out FILE

faults: ${Object.keys(FAULTS).join(' ')}
without --fault: all of them in turn; --fault none: only load`

class UsageError extends Error {}

function readPlan(args: string[]) {
  const { values } = parseArgs({
    args,
    options: {
      fault: { type: 'string', multiple: true },
      seed: { type: 'string' },
      for: { type: 'string', default: '60s' },
      host: { type: 'string', default: 'workerd' },
      out: { type: 'string' },
    },
  })
  const { host } = values
  if (host !== 'workerd' && host !== 'deno') throw new UsageError(`there is no host ${host}`)
  const [, count, unit] = /^(\d+)(s|m)$/.exec(values.for) ?? []
  if (count === undefined) throw new UsageError(`${values.for} is no time like 60s or 10m`)
  const seed = Number(values.seed ?? Math.floor(Math.random() * 1e9))
  if (!Number.isInteger(seed)) throw new UsageError(`${values.seed} is no seed`)
  const known = faultsOf(host)
  const faults = (values.fault ?? known).filter((name) => name !== 'none')
  const unknown = faults.find((name) => !known.includes(name))
  if (unknown !== undefined) throw new UsageError(`there is no fault ${unknown} on ${host}`)
  return {
    host,
    seed,
    faults,
    forMs: Number(count) * (unit === 'm' ? 60_000 : 1_000),
    file: resolve(values.out ?? `.signalbox/prove/${host}-${seed}.jsonl`),
  } as const
}

async function main(args: string[]): Promise<number> {
  const plan = readPlan(args)
  mkdirSync(dirname(plan.file), { recursive: true })
  console.log(`seed ${plan.seed} on ${plan.host}: ${plan.file}`)
  const { lines } = await prove({ ...plan, say: (sentence) => console.log(sentence) })
  console.log(summaryOf(lines))
  const findings = checkHistory(readFileSync(plan.file, 'utf8'))
  for (const { check, line, what } of findings) console.log(`line ${line}: (${check}) ${what}`)
  console.log(`${lines.length} lines, ${findings.length} findings, seed ${plan.seed}`)
  return findings.length === 0 ? 0 : 1
}

try {
  process.exitCode = await main(process.argv.slice(2))
} catch (error) {
  if (!(error instanceof UsageError || error instanceof TypeError)) throw error
  console.error(`${error.message}\n${USAGE}`)
  process.exitCode = 2
}
