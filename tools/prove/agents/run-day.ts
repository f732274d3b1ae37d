// `node tools/prove/agents/run-day.ts [BOARD] [HOURS] [SEED]`: agents work for a day in worktrees,
// on a board that people merge into, stash and switch. docs/reliability.md says more.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { machineVariables } from '../../../system/environment.ts'
import { Seeded } from '../../harness/seeded.ts'
import { workDay } from './day.ts'
import { DAY_BOARDS } from './day-boards.ts'

const AGENTS = 8
/** More than they can do. */
const TASKS_AN_HOUR = 10

const [name = 'backlog-md', hours = '24', seed = '1'] = process.argv.slice(2)
const board = Object.entries(DAY_BOARDS).find(([it]) => it === name)?.[1]
if (!board || !(Number(hours) > 0) || !Number.isInteger(Number(seed))) {
  const names = Object.keys(DAY_BOARDS).join('|')
  console.error(`usage: node tools/prove/agents/run-day.ts [${names}] [HOURS] [SEED]`)
  process.exit(2)
}
const home = await mkdtemp(join(tmpdir(), 'signalbox-home-'))
try {
  const outcome = await workDay({
    board,
    tasks: Math.ceil(TASKS_AN_HOUR * Number(hours)),
    agents: AGENTS,
    hours: Number(hours),
    random: new Seeded(Number(seed)),
    env: { ...machineVariables(process.env), HOME: home, CI: 'true', DO_NOT_TRACK: '1' },
    log: (sentence) => console.log(sentence),
  })
  const { findings, ...counts } = outcome
  console.log(JSON.stringify({ board: name, hours, seed, ...counts }))
  for (const sentence of findings) console.log(sentence)
  process.exitCode = findings.length > 0 ? 1 : 0
} finally {
  await rm(home, { recursive: true, force: true, maxRetries: 5 })
}
