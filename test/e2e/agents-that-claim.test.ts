// Agents that know nothing but the commands of docs/agents.md, on one board.

import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { SIGNALBOX } from '../../tools/harness/config.ts'
import { Seeded } from '../../tools/harness/seeded.ts'
import { workOff } from '../../tools/prove/agents/agents.ts'
import { workDay } from '../../tools/prove/agents/day.ts'
import { DAY_BOARDS } from '../../tools/prove/agents/day-boards.ts'
import { toolsWith } from '../../tools/prove/agents/tools.ts'
import { inTools, noTools } from '../support/judges.ts'
import { oneProcess, Starts } from '../support/local-system.ts'
import { programEnv } from '../support/run-home.ts'
import { tempFolder, writeFiles } from '../support/temp-folder.ts'

const starts = new Starts()
afterAll(() => starts.clear())

/** Each command is a process, of which a busy machine starts one in some seconds. */
const WITHIN_MS = 300_000
const SLOW = { timeout: WITHIN_MS / 3 }
/** Those of the command line, seven at once. */
const AGENTS = 7
const TASKS = 10
const OVER_MCP = 14
/** Without it the files of Backlog.md are edited as an agent does. */
const program = noTools ? undefined : inTools('node_modules/.bin/backlog')

describe.each([
  // As fast as an editor: the tool's own command takes seconds.
  ['backlog-md', { tasks: OVER_MCP, shell: toolsWith(undefined)['backlog-md'].shell }],
  ['openspec', undefined],
] as const)('agents on a board of %s', (name, overMcp) => {
  const beside = overMcp ? ', seven by commands and one over MCP' : ''
  const tasks = TASKS + (overMcp?.tasks ?? 0)
  it(
    `do each task once and leave none${beside}, though some are killed at work`,
    async () => {
      const { findings, ...counts } = await workOff({
        tool: toolsWith(program)[name],
        tasks,
        agents: AGENTS,
        ...(overMcp && { overMcp }),
        workMs: 200,
        faultEvery: 4,
        patienceMs: 60_000,
        random: new Seeded(4),
        env: programEnv(process.env.HOME ?? ''),
        log: () => undefined,
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
      const { files, shell, closed } = toolsWith(undefined)['backlog-md']
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
      expect(closed(texts)).toBe(count)
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

const { 'backlog-md': backlog, openspec } = DAY_BOARDS
describe.each(Object.entries({ 'backlog-md': backlog, openspec }))(
  'two hours of eight agents in worktrees on %s',
  (_, board) => {
    it(
      'give each task once, while people merge hours later, stash, switch and restart',
      async () => {
        const { findings, ...counts } = await workDay({
          board,
          tasks: 14,
          agents: 8,
          hours: 2,
          random: new Seeded(7),
          env: programEnv(process.env.HOME ?? ''),
          log: () => undefined,
        })
        expect(findings).toEqual([])
        expect(counts).toMatchObject({ given: 14, claims: 14, closed: 14 })
      },
      WITHIN_MS,
    )
  },
)

const ROUNDS = 2
const [, LINES = ''] =
  /```md\n(## Work from.*?)```/s.exec(readFileSync('docs/agents.md', 'utf8')) ?? []
const [CLAIM, DONE, , CHECK] = [...LINES.matchAll(/`(signalbox [^`]+)`/g)].map(([, it]) => it)

describe('four agents whose instructions are the ten lines', () => {
  it(
    'take eight different tasks in two rounds, all four at the same time',
    async () => {
      const dir = tempFolder()
      const { files, shell } = toolsWith(undefined)['backlog-md']
      writeFiles(dir, files(4 * ROUNDS))
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
        until [ "$(grep -c "^$round " ${dataDir}/taken)" = 4 ]; do sleep 0.05; done
        ${CHECK} && close "$task"
        ${DONE}
      done`
      const env = programEnv(process.env.HOME ?? '')
      const agents: ChildProcess[] = []
      try {
        for (let n = 0; n < 4; n++) {
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
          await expect.poll(() => taken().length, SLOW).toBe(4 * round)
        }
        await expect.poll(() => agents.every(({ exitCode }) => exitCode === 0), SLOW).toBe(true)
        expect(new Set(taken().map((line) => line.split(' ')[1])).size).toBe(4 * ROUNDS)
        const texts = Object.keys(files(4 * ROUNDS)).map((name) =>
          readFileSync(join(dir, name), 'utf8'),
        )
        expect(toolsWith(undefined)['backlog-md'].closed(texts)).toBe(4 * ROUNDS)
      } finally {
        for (const { pid = 0, exitCode } of agents)
          if (exitCode === null) process.kill(-pid, 'SIGKILL')
      }
    },
    WITHIN_MS,
  )
})
