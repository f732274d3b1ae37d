// `node tools/prove/agents/run.ts`: agents work off a board, for an hour. docs/reliability.md says
// more.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { machineVariables } from '../../../system/environment.ts'
import { Seeded } from '../../harness/seeded.ts'
import { workOff } from './agents.ts'
import { toolsWith } from './tools.ts'

const USAGE = `usage: node tools/prove/agents/run.ts [options]
  --board NAME     backlog-md or openspec (default: backlog-md)
  --program FILE   the command line of Backlog.md (default: its files are edited)
  --tasks N        (default: 500)
  --agents N       (default: 8)
  --for TIME       how long it takes, about, such as 60s or 1h (default: 1h)
  --seed N         of faults, and of how long each task takes (default: 1)`

/** Longer than a lease, which is 10 minutes. */
const STOPPED_MS = 700_000
/** A lease that has to end, and a task that is begun anew. */
const PATIENCE_MS = 2 * STOPPED_MS
/** The rest of an agent's time is starts of programs, and what a kill undoes. */
const WORKS = 0.75
const UNITS = { s: 1_000, m: 60_000, h: 3_600_000 }

class UsageError extends Error {}

function planOf(args: string[]) {
  const text = { type: 'string' } as const
  const names = { board: text, program: text, tasks: text, agents: text, for: text, seed: text }
  const given = parseArgs({ args, options: names }).values
  const tools = toolsWith(given.program && resolve(given.program))
  const { board = 'backlog-md' } = given
  if (board !== 'backlog-md' && board !== 'openspec') throw new UsageError(`No board ${board}.`)
  const [, time, unit] = /^([1-9]\d*)([smh])$/.exec(given.for ?? '1h') ?? []
  if (time === undefined) throw new UsageError(`--for ${given.for} is no time such as 60s or 1h.`)
  const whole = (name: 'tasks' | 'agents' | 'seed', usual: number) => {
    const value = Number(given[name] ?? usual)
    if (!Number.isInteger(value) || value < 1) throw new UsageError(`--${name} is a whole number.`)
    return value
  }
  const [tasks, agents, seed] = [whole('tasks', 500), whole('agents', 8), whole('seed', 1)]
  const forMs = Number(time) * UNITS[unit as keyof typeof UNITS]
  return { tool: tools[board], tasks, agents, seed, forMs }
}

async function main(args: string[]): Promise<number> {
  const { tool, tasks, agents, seed, forMs } = planOf(args)
  const workMs = (WORKS * forMs * agents) / tasks
  const home = await mkdtemp(join(tmpdir(), 'signalbox-home-'))
  const began = performance.now()
  const seconds = () => Math.round((performance.now() - began) / 1_000)
  try {
    const outcome = await workOff({
      tool,
      tasks,
      agents,
      random: new Seeded(seed),
      workMs,
      faultEvery: Math.max(1, Math.round(tasks / 60)),
      ...(forMs > 3 * STOPPED_MS && { stopMs: STOPPED_MS }),
      patienceMs: PATIENCE_MS + workMs,
      env: { ...machineVariables(process.env), HOME: home, CI: 'true', DO_NOT_TRACK: '1' },
      log: (sentence) => console.log(`${seconds()} s: ${sentence}`),
    })
    const { findings, ...counts } = outcome
    console.log(JSON.stringify({ seed, agents, tasks, seconds: seconds(), ...counts }))
    for (const sentence of findings) console.log(sentence)
    return findings.length === 0 && outcome.closed === tasks ? 0 : 1
  } finally {
    await rm(home, { recursive: true, force: true, maxRetries: 5 })
  }
}

try {
  process.exitCode = await main(process.argv.slice(2))
} catch (error) {
  const isUsage =
    error instanceof UsageError || (error as { code?: string }).code?.startsWith('ERR_PARSE')
  if (!isUsage) throw error
  console.error(`${(error as Error).message}\n\n${USAGE}`)
  process.exitCode = 2
}
