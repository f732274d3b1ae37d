// Agents that know nothing but the commands of docs/agents.md, on one board.

import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { SIGNALBOX } from '../../tools/harness/config.ts'
import { Seeded } from '../../tools/harness/seeded.ts'
import { workOff } from '../support/claiming/agents.ts'
import { BOARDS, closedIn, toolsWith } from '../support/claiming/boards.ts'
import { workDay } from '../support/claiming/day.ts'
import { inTools, noTools } from '../support/judges.ts'
import { oneProcess, Starts } from '../support/local-system.ts'
import { programEnv } from '../support/run-home.ts'
import { tempFolder, writeFiles } from '../support/temp-folder.ts'

const starts = new Starts()
afterAll(() => starts.clear())

/** Longer than the suite has time for: docs/reliability.md. */
const { AGENTS_MINUTES, DAY_HOURS, AGENTS_SEED } = process.env
const MINUTE_MS = 60_000
/** Each command is a process, of which a busy machine starts one in some seconds. */
const WITHIN_MS = (5 + 3 * Number(AGENTS_MINUTES ?? 0) + 10 * Number(DAY_HOURS ?? 0)) * MINUTE_MS
const SLOW = { timeout: WITHIN_MS / 3 }
const plan = () => ({
  random: new Seeded(Number(AGENTS_SEED ?? 4)),
  env: programEnv(process.env.HOME ?? ''),
  log: (sentence: string) => void (AGENTS_SEED && console.log(sentence)),
})
/** Those of the command line, at once. Each task is three processes. */
const AGENTS = AGENTS_MINUTES ? 7 : 4
const TASKS = 8
const OVER_MCP = 6
/** Longer than a lease, which is 10 minutes. */
const STOPPED_MS = 700_000
/** Some stop, and a task that one left is begun anew when its lease is over. */
const LONG = {
  tasks: 12 * Number(AGENTS_MINUTES),
  workMs: 25_000,
  faultEvery: 8,
  ...(Number(AGENTS_MINUTES) > 35 && { stopMs: STOPPED_MS }),
  patienceMs: 2 * STOPPED_MS,
}
/** Each call takes the processor for as long as five claims. Without it files are edited as an agent does. */
const program = AGENTS_MINUTES && !noTools ? inTools('node_modules/.bin/backlog') : undefined

describe.each([
  // As fast as an editor: the tool's own command takes seconds.
  ['backlog-md', { tasks: OVER_MCP, shell: toolsWith(undefined)['backlog-md'].shell }],
  ['openspec', undefined],
] as const)('agents on a board of %s', (name, overMcp) => {
  const beside = overMcp ? `, ${AGENTS} by commands and one over MCP` : ''
  const short = { tasks: TASKS, workMs: 200, faultEvery: 4, patienceMs: 2 * MINUTE_MS }
  const own = AGENTS_MINUTES ? LONG : short
  const tasks = own.tasks + (overMcp?.tasks ?? 0)
  it(
    `do each task once and leave none${beside}, though some are killed at work`,
    async () => {
      const { findings, ...counts } = await workOff({
        ...plan(),
        ...own,
        tool: toolsWith(program)[name],
        tasks,
        agents: AGENTS,
        ...(overMcp && { overMcp }),
      })
      expect(findings).toEqual([])
      expect(counts).toMatchObject({ done: tasks, closed: tasks })
      // All take from one list, so how many each does is nobody's promise.
      expect(counts.overMcp > 0).toBe(overMcp !== undefined)
      // It goes on while the others do: none of them begins a third task before it has its next.
      expect(counts.overtaken).toBeLessThanOrEqual(2 * AGENTS)
      expect(counts.faults['killed agents']).toBeGreaterThan(0)
    },
    WITHIN_MS,
  )
})

describe('commands that are run by the first line', () => {
  it(
    'do each task once, four at the same time, and their claims are finished',
    async () => {
      const [dir, count] = [tempFolder(), 8]
      const { files, shell } = toolsWith(undefined)['backlog-md']
      writeFiles(dir, files(count))
      const system = await starts.start({ launch: oneProcess, storeDir: dir })
      const { dataDir } = await system.ready()
      const taken = join(dataDir, 'taken')
      const work = join(dataDir, 'work.sh')
      writeFileSync(
        work,
        `${shell}\nid=$SIGNALBOX_TASK\nmark $id; echo $id >> ${taken}; close $id\n`,
      )
      const signalbox = `"${process.execPath}" "${SIGNALBOX}"`
      const once = `${signalbox} claim --data "${dataDir}" --wait 60s -- /bin/sh "${work}"`
      const env = programEnv(process.env.HOME ?? '')
      const agents = Array.from({ length: 4 }, () =>
        spawn('/bin/sh', ['-c', `${once} && ${once}`], { cwd: dir, env, stdio: 'ignore' }),
      )
      const codes = agents.map((agent) => new Promise((resolve) => agent.once('exit', resolve)))
      expect(await Promise.all(codes)).toEqual([0, 0, 0, 0])
      const ids = readFileSync(taken, 'utf8').trim().split('\n')
      expect([ids.length, new Set(ids).size]).toEqual([count, count])
      const texts = Object.keys(files(count)).map((name) => readFileSync(join(dir, name), 'utf8'))
      expect(closedIn(BOARDS['backlog-md'], texts)).toBe(count)
      const { url, path, tokens } = await system.local()
      const query = `path=${encodeURIComponent(path)}`
      const headers = { authorization: `Bearer ${tokens.board}` }
      const read = await fetch(`${url}/api/sessions?${query}`, { headers })
      const { sessions } = (await read.json()) as { sessions: { health: string }[] }
      expect(sessions.map(({ health }) => health)).toEqual(Array(count).fill('finished'))
    },
    WITHIN_MS,
  )
})

const hours = Number(DAY_HOURS ?? 2)
const { kiro, ...ofSuite } = BOARDS
describe.each(Object.entries(DAY_HOURS ? { ...ofSuite, kiro } : ofSuite))(
  'eight agents in worktrees on %s',
  (_, board) => {
    it(
      `are given each task once in ${hours} hours, while people merge, stash, switch and restart`,
      async () => {
        const tasks = 7 * hours
        const { findings, ...counts } = await workDay({ ...plan(), board, tasks, agents: 8, hours })
        expect(findings).toEqual([])
        expect(counts).toMatchObject({ given: tasks, claims: tasks, closed: tasks })
      },
      WITHIN_MS,
    )
  },
)

const ROUNDS = 2
const [, LINES = ''] =
  /```md\n(## Work from.*?)```/s.exec(readFileSync('docs/agents.md', 'utf8')) ?? []
const [CLAIM, DONE, , CHECK] = [...LINES.matchAll(/`(signalbox [^`]+)`/g)].map(([, it]) => it)

describe('two agents whose instructions are the ten lines', () => {
  it(
    'take four different tasks in two rounds, both at the same time',
    async () => {
      const dir = tempFolder()
      const { files, shell } = toolsWith(undefined)['backlog-md']
      writeFiles(dir, files(2 * ROUNDS))
      const { dataDir } = await (await starts.start({ launch: oneProcess, storeDir: dir })).ready()
      // The commands find out who works by the name of the process above them: no subshell of it.
      const claude = join(dataDir, 'claude')
      symlinkSync('/bin/sh', claude)
      const script = `
      signalbox() { command=$1; shift
        "${process.execPath}" "${SIGNALBOX}" "$command" --data "${dataDir}" "$@"; }
      ${shell}
      for round in $(seq ${ROUNDS}); do
        until [ -e ${dataDir}/round-$round ]; do sleep 0.05; done
        ${CLAIM} > ${dataDir}/$$
        task=$(sed 's/.*"task":"\\([^"]*\\)".*/\\1/' ${dataDir}/$$)
        mark "$task"
        echo "$round $task" >> ${dataDir}/taken
        until [ "$(grep -c "^$round " ${dataDir}/taken)" = 2 ]; do sleep 0.05; done
        ${CHECK} && close "$task"
        ${DONE}
      done`
      const env = programEnv(process.env.HOME ?? '')
      const agents: ChildProcess[] = []
      try {
        for (let n = 0; n < 2; n++) {
          const options = { cwd: dir, env, detached: true, stdio: 'ignore' } as const
          agents.push(spawn(claude, ['-c', script], options))
        }
        const taken = () => {
          try {
            return readFileSync(join(dataDir, 'taken'), 'utf8').trim().split('\n')
          } catch {
            return []
          }
        }
        for (let round = 1; round <= ROUNDS; round++) {
          writeFileSync(join(dataDir, `round-${round}`), '')
          await expect.poll(() => taken().length, SLOW).toBe(2 * round)
        }
        await expect.poll(() => agents.every(({ exitCode }) => exitCode === 0), SLOW).toBe(true)
        expect(new Set(taken().map((line) => line.split(' ')[1])).size).toBe(2 * ROUNDS)
        const texts = Object.keys(files(2 * ROUNDS)).map((name) =>
          readFileSync(join(dir, name), 'utf8'),
        )
        expect(closedIn(BOARDS['backlog-md'], texts)).toBe(2 * ROUNDS)
      } finally {
        for (const { pid = 0, exitCode } of agents)
          if (exitCode === null) process.kill(-pid, 'SIGKILL')
      }
    },
    WITHIN_MS,
  )
})
