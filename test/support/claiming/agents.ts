// Agents that run only the commands of docs/agents.md until a board has no open task, and maybe one
// beside them that has only MCP. Some of them are killed or stopped while they work, and so is the
// Signalbox that gives them their tasks.

import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { SIGNALBOX } from '../../../tools/harness/config.ts'
import type { Process } from '../../../tools/harness/process.ts'
import type { Seeded } from '../../../tools/harness/seeded.ts'
import { readWork, type Work } from './agents-log.ts'
import { closedIn, type Tool } from './boards.ts'
import { workOverMcp } from './mcp-agent.ts'
import { dataIn, projectIn, signalboxIn } from './signalbox.ts'

export interface Plan {
  tool: Tool
  tasks: number
  agents: number
  /** One more, over MCP: how many tasks it does, and the shell of the tool to do them with. */
  overMcp?: { tasks: number; shell: string }
  /** The work of one task; from half to one and a half times as long. */
  workMs: number
  /** Something fails each time that as many more tasks are done. */
  faultEvery: number
  /** How long an agent is stopped: longer than its lease. Absent: none is. */
  stopMs?: number
  /** It ends where no task was done for so long, whatever is left. */
  patienceMs: number
  random: Seeded
  env: Readonly<Record<string, string>>
  log: (sentence: string) => void
}

export interface Outcome extends Work {
  /** Tasks that are closed in the files. */
  closed: number
  faults: Record<Fault, number>
  /** Tasks that were done over MCP. */
  overMcp: number
  /** Agents that ended by themselves, since no Signalbox answered. */
  ended: number
}

type Fault = 'killed agents' | 'stopped agents' | 'killed Signalboxes'

interface Agent {
  name: string
  child: ChildProcess
  /** When it is woken. */
  stoppedUntil?: number
}

const OVER_MCP = 'over-mcp'
const DOCS = resolve(import.meta.dirname, '../../../docs/agents.md')
const LOOK_MS = 100

/** Leaves no process and no file. */
export async function workOff(plan: Plan): Promise<Outcome> {
  const dir = await mkdtemp(join(tmpdir(), 'signalbox-agents-'))
  const team = await Team.of(plan, dir)
  try {
    return await team.work()
  } finally {
    await team.end()
    await rm(dir, { recursive: true, force: true, maxRetries: 5 })
  }
}

class Team {
  readonly #plan: Plan
  readonly #dir: string
  readonly #board: string
  readonly #end = new AbortController()
  readonly #log: string
  readonly #script: string
  readonly #signalbox: Process
  readonly #agents = new Set<Agent>()
  readonly #faults = { 'killed agents': 0, 'stopped agents': 0, 'killed Signalboxes': 0 }
  #named = 0
  #ended = 0

  static async of(plan: Plan, dir: string): Promise<Team> {
    const { tool, tasks, random, workMs, env } = plan
    for (const [name, text] of Object.entries(tool.files(tasks))) {
      const path = join(projectIn(dir), name)
      await mkdir(dirname(path), { recursive: true })
      await writeFile(path, text)
    }
    const seconds = () => ((workMs * (0.5 + random.next())) / 1_000).toFixed(2)
    await writeFile(join(dir, 'seconds'), Array.from({ length: tasks }, seconds).join('\n'))
    const [, loop = ''] = /```sh\n(while.*?)```/s.exec(await readFile(DOCS, 'utf8')) ?? []
    return new Team(plan, dir, scriptOf(tool, dir, loop), await signalboxIn(dir, env))
  }

  constructor(plan: Plan, dir: string, script: string, signalbox: Process) {
    this.#plan = plan
    this.#dir = dir
    this.#board = projectIn(dir)
    this.#log = join(dir, 'log')
    this.#script = script
    this.#signalbox = signalbox
  }

  async work(): Promise<Outcome> {
    const { agents, tasks, patienceMs, faultEvery, log } = this.#plan
    await writeFile(this.#log, '')
    await this.#signalbox.start()
    const overMcp = this.#overMcp()
    // It is looked at where all of its tasks could have been done.
    overMcp.catch(() => undefined)
    if (this.#plan.overMcp) await this.#hasBegun(OVER_MCP)
    for (let n = 0; n < agents; n++) this.#hire()
    let [before, until] = [0, performance.now() + patienceMs]
    for (let next = faultEvery; performance.now() < until; await sleep(LOOK_MS)) {
      const { done } = await this.#work()
      if (done >= tasks) break
      if (done > before) [before, until] = [done, performance.now() + patienceMs]
      await this.#wake()
      this.#replace()
      if (done < next) continue
      next += faultEvery
      log(`${done} of ${tasks} done: ${await this.#fail()}`)
    }
    const closed = closedIn(this.#plan.tool, await this.#texts())
    const work = { ...(await this.#work()), closed, faults: this.#faults, ended: this.#ended }
    this.#end.abort()
    return { ...work, overMcp: await overMcp }
  }

  async end(): Promise<void> {
    this.#end.abort()
    for (const agent of this.#agents) signal(agent, 'SIGKILL')
    await this.#signalbox.stop()
  }

  async #overMcp(): Promise<number> {
    const { overMcp, env } = this.#plan
    if (!overMcp) return 0
    const { shell, tasks } = overMcp
    const cwd = this.#board
    const run = (what: string) => (task: string) =>
      promisify(execFile)('/bin/sh', ['-c', `${shell}\n${what} "$1"`, 'mcp', task], { cwd, env })
    const args = [SIGNALBOX, 'mcp', '--data', dataIn(this.#dir)]
    return await workOverMcp({
      name: OVER_MCP,
      program: { command: process.execPath, args, cwd, env },
      tasks,
      tool: { mark: run('mark'), close: run('close') },
      note: (line) => this.#note(line),
      signal: this.#end.signal,
    })
  }

  /** Else the others might leave it nothing. */
  async #hasBegun(name: string): Promise<void> {
    const until = performance.now() + this.#plan.patienceMs
    const line = new RegExp(`^begun \\S+ ${name}$`, 'm')
    const hasLine = async () => line.test(await readFile(this.#log, 'utf8'))
    while (!(await hasLine()) && performance.now() < until) await sleep(LOOK_MS)
  }

  #hire(): void {
    const name = `agent-${++this.#named}`
    const child = spawn('/bin/sh', ['-c', this.#script, name], {
      cwd: this.#board,
      env: this.#plan.env,
      stdio: 'ignore',
      // What it runs dies with it.
      detached: true,
    })
    this.#agents.add({ name, child })
  }

  /** Those that have ended. */
  #replace(): void {
    for (const agent of this.#agents) {
      if (agent.child.exitCode === null) continue
      this.#agents.delete(agent)
      this.#ended++
      this.#hire()
    }
  }

  async #fail(): Promise<string> {
    const { random, stopMs } = this.#plan
    const fault = random.weighted<Fault>([
      [6, 'killed agents'],
      [1, 'killed Signalboxes'],
      [stopMs === undefined ? 0 : 1, 'stopped agents'],
    ])
    if (fault === 'killed Signalboxes') {
      await this.#signalbox.kill()
      await this.#signalbox.start()
    } else {
      const { working } = await this.#work()
      const able = [...this.#agents].filter(
        ({ name, stoppedUntil }) =>
          stoppedUntil === undefined && (fault === 'killed agents' || working.includes(name)),
      )
      const agent = able[random.below(able.length)]
      const isDone =
        agent && (fault === 'killed agents' ? await this.#kill(agent) : await this.#stop(agent))
      if (!isDone) return 'nobody was at work to be stopped'
    }
    this.#faults[fault]++
    return fault
  }

  async #kill(agent: Agent): Promise<true> {
    await this.#alone(agent, async () => {
      await this.#note(`killed ${agent.name}`)
      signal(agent, 'SIGKILL')
    })
    this.#agents.delete(agent)
    this.#hire()
    return true
  }

  /** Only between the mark and the end of its task: woken, it asks before it closes that. */
  #stop(agent: Agent): Promise<boolean> {
    return this.#alone(agent, async () => {
      if (!(await this.#work()).working.includes(agent.name)) return false
      await this.#note(`stopped ${agent.name}`)
      signal(agent, 'SIGSTOP')
      agent.stoppedUntil = performance.now() + (this.#plan.stopMs ?? 0)
      return true
    })
  }

  async #wake(): Promise<void> {
    for (const agent of this.#agents) {
      if (agent.stoppedUntil === undefined || performance.now() < agent.stoppedUntil) continue
      delete agent.stoppedUntil
      await this.#note(`woken ${agent.name}`)
      signal(agent, 'SIGCONT')
    }
  }

  /** Not while it edits: half a file would be the loss of its tool, and nothing of a claim. */
  async #alone<Result>(agent: Agent, run: () => Promise<Result>): Promise<Result> {
    const lock = join(this.#board, lockOf(this.#plan.tool, agent.name))
    while (!(await mkdir(lock).then(yes, no))) await sleep(LOOK_MS)
    const result = await run()
    await rm(lock, { recursive: true })
    return result
  }

  async #work(): Promise<Work> {
    return readWork(await readFile(this.#log, 'utf8'))
  }

  #note(line: string): Promise<void> {
    return writeFile(this.#log, `${line}\n`, { flag: 'a' })
  }

  async #texts(): Promise<string[]> {
    const names = Object.keys(this.#plan.tool.files(this.#plan.tasks))
    return Promise.all(names.map((name) => readFile(join(this.#board, name), 'utf8')))
  }
}

const yes = () => true
const no = () => false

const lockOf = ({ isShared }: Tool, agent: string) => (isShared ? '.edit' : `.edit-${agent}`)

/** `$0` is the name of the agent. */
function scriptOf(tool: Tool, dir: string, loop: string): string {
  return `
    signalbox() { command=$1; shift
      '${process.execPath}' '${SIGNALBOX}' "$command" --data '${dataIn(dir)}' "$@"; }
    note() { echo "$*" >> '${dir}/log'; }
    alone() { until mkdir ${lockOf(tool, '$0')} 2>/dev/null; do sleep 0.05; done
      "$@"; code=$?; rmdir ${lockOf(tool, '$0')}; return $code; }
    ${tool.shell}
    begin() { is_closed "$1" && note twice "$1" $0; mark "$1"; note begun "$1" $0; }
    finish() {
      signalbox check --pid $$ > /dev/null 2>&1
      case $? in 0) close "$1" && note done "$1" $0;; *) note left "$1" $0 $?; return 1;; esac; }
    do_the_work() {
      alone begin "$1"
      sleep "$(sed -n "$(echo "$1" | sed 's/.*[^0-9]//')p" '${dir}/seconds')"
      alone finish "$1"; }
    ${loop}`
}

function signal({ child: { pid } }: Agent, name: NodeJS.Signals): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, name)
  } catch {
    // It has ended.
  }
}
