// The process that works on a task: the agent that called us, some processes above. Its pid may be
// given to another one, so its start, the boot and the namespace of pids belong to its name.

import { execFileSync } from 'node:child_process'
import { readFileSync, readlinkSync } from 'node:fs'
import { processStat } from '../../worker/shared/process-stat-node.ts'
import type { KeptClaim } from './kept-claims.ts'

export type AgentProcess = NonNullable<KeptClaim['process']>

/** The names of programs that are agents. */
const AGENTS = [
  'claude',
  'codex',
  'opencode',
  'gemini',
  'aider',
  'cursor-agent',
  'copilot',
  'goose',
  'amp',
  'crush',
  'qwen',
]

interface Seen {
  parent: number
  name: string
  /** As the system has it. */
  startedAt: string
  /** It exists, and does not run: SIGSTOP, a debugger. */
  isStopped: boolean
}

/** The nearest one above us that is an agent. */
export function agentAbove(pid = process.ppid, seenAs = look): number | undefined {
  for (let at = pid, steps = 0; at > 1 && steps < 64; steps++) {
    const seen = seenAs(at)
    if (!seen) return undefined
    if (AGENTS.includes(seen.name)) return at
    at = seen.parent
  }
  return undefined
}

/** Undefined: there is no such process. */
export function identify(pid: number): AgentProcess | undefined {
  const seen = look(pid)
  return seen && { pid, startedAt: seen.startedAt, ...thisBoot() }
}

/** A pid may be given to another process. */
export const isSame = (one: AgentProcess, other: AgentProcess): boolean =>
  one.pid === other.pid &&
  one.startedAt === other.startedAt &&
  one.boot === other.boot &&
  one.namespace === other.namespace

/**
 * `elsewhere`: another boot or namespace has it, and nothing here can tell. Two machines may share
 * the home of a user, and so may a machine and its containers.
 */
export function stateOf(agent: AgentProcess): 'running' | 'stopped' | 'gone' | 'elsewhere' {
  const { boot, namespace } = thisBoot()
  if (agent.boot !== boot || agent.namespace !== namespace) return 'elsewhere'
  const seen = look(agent.pid)
  if (seen?.startedAt !== agent.startedAt) return 'gone'
  return seen.isStopped ? 'stopped' : 'running'
}

/** Which boot this is, and which namespace of pids. */
export function thisBoot(): Pick<AgentProcess, 'boot' | 'namespace'> {
  if (process.platform !== 'linux') return { boot: bootTime(), namespace: 'one' }
  return {
    boot: readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim(),
    namespace: readlinkSync('/proc/self/ns/pid'),
  }
}

const bootTime = (): string => {
  const text = printed('sysctl', ['-n', 'kern.boottime']) ?? ''
  return /sec = (\d+)/.exec(text)?.[1] ?? text
}

function look(pid: number): Seen | undefined {
  return process.platform === 'linux' ? inProc(pid) : byPs(printed('ps', psArguments(pid)))
}

function inProc(pid: number): Seen | undefined {
  const { name = '', state = 'X', parent = 0, startedAt = '' } = processStat(pid) ?? {}
  if (state === 'Z' || state === 'X') return undefined
  try {
    const isStopped = state === 'T' || state === 't'
    return { parent, startedAt, isStopped, name: AGENTS.includes(name) ? name : programOf(pid) }
  } catch {
    return undefined
  }
}

/** An agent that is a script runs as `node …/claude`. */
function programOf(pid: number): string {
  const [program = '', script] = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
  const isScript = /^(node|bun|deno|python3?)$/.test(baseOf(program))
  return baseOf((isScript ? script : undefined) ?? program)
}

const baseOf = (path: string): string => (path.split('/').at(-1) ?? '').replace(/\.(m?js|py)$/, '')

const psArguments = (pid: number) => ['-o', 'ppid=,stat=,lstart=,comm=', '-p', String(pid)]

/** Of `lstart`: always as long as `Mon Jan  5 08:00:00 2026`. */
const STARTED = /^\S{3} \S{3} [ \d]\d [\d:]{8} \d{4}$/
const STARTED_LENGTH = 24

/**
 * A line of `ps`, such as `  1 Ss   Thu Nov 26 22:58:28 2026     /sbin/launchd`.
 * @forTests Lines of a Mac's ps are read on Linux, too.
 */
export function byPs(line: string | undefined): Seen | undefined {
  const [, parent, state = '', rest = ''] =
    /^(\d+)\s+(\S+)\s+(\S.*)$/s.exec(line?.trim() ?? '') ?? []
  const startedAt = rest.slice(0, STARTED_LENGTH)
  const command = rest.slice(STARTED_LENGTH).trim()
  if (!STARTED.test(startedAt) || command === '' || state.startsWith('Z')) return undefined
  return {
    parent: Number(parent),
    startedAt,
    name: baseOf(command),
    isStopped: state.startsWith('T'),
  }
}

/** Undefined: it cannot be run, or fails. */
export function printed(program: string, args: string[]): string | undefined {
  try {
    return execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
  } catch {
    return undefined
  }
}
