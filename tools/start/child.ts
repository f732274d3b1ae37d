// One process of the system, tied to ours so that it cannot outlive us, however we end.

import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { errorCode } from '../../worker/shared/file-errors.ts'

export interface ChildSpec {
  name: string
  command: string
  args: readonly string[]
  /** The complete environment, so that secrets reach only the process that needs them. */
  env: Readonly<Record<string, string>>
  /** Absent: our own. */
  cwd?: string
  /** Standard output and error are appended to it. */
  logFile: string
  /** From SIGTERM to SIGKILL. */
  graceMs: number
  /** Gets what the process sends by `process.send`, and may answer. Absent: it has no channel. */
  onMessage?: (message: unknown, answer: (message: object) => void) => void
}

export interface Ending {
  code: number | null
  signal: NodeJS.Signals | null
}

export interface Child {
  /** The program's own, not a wrapper's; undefined when it could not be started. */
  readonly pid: number | undefined
  readonly ended: Promise<Ending>
  /** SIGTERM now, SIGKILL when that did not help in time. */
  stop(): void
  /** SIGKILL now. */
  kill(): void
}

// A watcher beside the program waits for the far end of file descriptor 3, which only our process
// holds and the kernel closes when we die of anything, SIGKILL too. Both are one process group, and
// the watcher signals the group (0). The number of the group is not used again while the watcher is
// in it, so the signal cannot hit other processes. The program itself replaces the shell, so its
// pid ($$) and its ending are those that we see.
const TIED = `
{
  trap '' TERM
  read -r _ <&3
  kill -TERM 0
  tenths="$0"
  while [ "$tenths" -gt 0 ] && kill -0 $$; do sleep 0.1; tenths=$((tenths - 1)); done
  kill -KILL 0
} </dev/null >/dev/null 2>&1 4<&- &
exec "$@" 3<&-
`

export type SpawnChild = (spec: ChildSpec) => Child

export function spawnChild(spec: ChildSpec): Child {
  const log = openSync(spec.logFile, 'a', 0o600)
  const grace = String(Math.ceil(spec.graceMs / 100))
  const child = spawn('/bin/sh', ['-c', TIED, grace, spec.command, ...spec.args], {
    env: spec.env,
    ...(spec.cwd !== undefined && { cwd: spec.cwd }),
    stdio: ['ignore', log, log, 'pipe', ...(spec.onMessage ? (['ipc'] as const) : [])],
    // Its own group also keeps a terminal's Ctrl-C away from it: we decide the order of ending.
    detached: true,
  })
  closeSync(log)
  // One that has ended meanwhile takes nothing any more.
  const answer = (message: object) => void (child.connected && child.send(message, () => undefined))
  child.on('message', (message) => spec.onMessage?.(message, answer))
  // The lifeline carries nothing; a reset of it is how a child's death may look from here.
  child.stdio[3]?.on('error', () => child.stdio[3]?.destroy())

  let killing: NodeJS.Timeout | undefined
  const ended = endOf(child).finally(() => {
    clearTimeout(killing)
    signalGroup(child, 'SIGKILL')
    child.stdio[3]?.destroy()
  })
  const kill = () => {
    clearTimeout(killing)
    signalGroup(child, 'SIGKILL')
  }
  return {
    pid: child.pid,
    ended,
    stop() {
      child.kill('SIGTERM')
      killing ??= setTimeout(kill, spec.graceMs)
    },
    kill,
  }
}

function endOf(child: ChildProcess): Promise<Ending> {
  return new Promise((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }))
    // 127 is what a shell answers for a program that it cannot start.
    child.once('error', () => resolve({ code: 127, signal: null }))
  })
}

function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return
  try {
    process.kill(-child.pid, signal)
  } catch (error) {
    // ESRCH: all of the group is gone already. EPERM: the same on macOS, while it is being reaped.
    const code = errorCode(error)
    if (code !== 'ESRCH' && code !== 'EPERM') throw error
  }
}
