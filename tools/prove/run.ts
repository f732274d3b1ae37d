// `npm run prove`: runs the real system under load and faults, writes a history of what is seen,
// and has it checked. docs/reliability.md says more.

import { mkdirSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { checkHistory, textOf } from './checker/check.ts'
import { readPlan, USAGE, UsageError } from './plan.ts'
import { prove } from './recorder/prove.ts'

/** The exit code. */
async function main(args: string[]): Promise<number> {
  const plan = readPlan(args)
  mkdirSync(dirname(plan.file), { recursive: true })
  console.log(`seed ${plan.seed} on ${plan.host}; the history: ${plan.file}`)
  await prove({ ...plan, log: (sentence) => console.log(sentence) })
  const history = readFileSync(plan.file, 'utf8')
  const findings = checkHistory(history)
  for (const finding of findings) console.log(textOf(finding))
  console.log(`the history: ${plan.file}`)
  const lines = history.split('\n').length - 1
  console.log(`${lines} lines, ${findings.length} findings, seed ${plan.seed}`)
  return findings.length === 0 ? 0 : 1
}

try {
  process.exitCode = await main(process.argv.slice(2))
} catch (error) {
  if (!(error instanceof UsageError)) throw error
  console.error(`${error.message}\n\n${USAGE}`)
  process.exitCode = 2
}
