// Child processes of the benchmark. They end with it, also when it fails.

import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { type ChildSpec, spawnChild, type Child as TiedChild } from '../start/child.ts'

/** A process that ignores SIGTERM is killed after this time. */
const GRACE_MS = 10_000

const running = new Map<ChildProcess, () => Promise<void>>()
process.on('exit', () => {
  for (const child of running.keys()) child.kill('SIGTERM')
})

const others = new Set<() => Promise<void>>()
let isStopping = false

/**
 * Registers a process that was started elsewhere: `stop` ends it, or waits for its end. The
 * returned function unregisters it. Throws while the benchmark is stopping: nothing may start then.
 */
export function stopsToo(stop: () => Promise<void>): () => void {
  if (isStopping) throw new Error('The benchmark is being stopped.')
  others.add(stop)
  return () => others.delete(stop)
}

/** After an interrupt. Resolves when no child process is left. */
export async function stopAll(): Promise<void> {
  isStopping = true
  await Promise.all([...running.values(), ...others].map((stop) => stop()))
}

export interface Child {
  readonly pid: number
  /** The line of output that matched. */
  readonly line: string
  stop(): Promise<void>
}

/**
 * Resolves when a line of output matches. Rejects if the process ends before, or after a timeout.
 * `env`: variables besides ours. `cwd`: absent: ours.
 */
export async function startNode(
  args: string[],
  ready: RegExp,
  waitMs: number,
  { env, cwd }: { env?: Readonly<Record<string, string>>; cwd?: string } = {},
): Promise<Child> {
  const child = spawn(process.execPath, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
    ...(cwd !== undefined && { cwd }),
  })
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  void ended.then(() => running.delete(child))
  const stop = async () => {
    child.kill('SIGTERM')
    const killer = setTimeout(() => child.kill('SIGKILL'), GRACE_MS)
    await ended
    clearTimeout(killer)
  }
  running.set(child, stop)

  let complaints = ''
  child.stderr.on('data', (text) => {
    complaints = `${complaints}${text}`.slice(-2_000)
  })
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const fail = (why: string) => reject(new Error(`${args.join(' ')} ${why}\n${complaints}`))
  for (const output of [child.stdout, child.stderr]) {
    createInterface(output).on('line', (line) => {
      if (ready.test(line)) resolve(line)
    })
  }
  void ended.then(() => fail('ended before it was ready.'))
  const timer = setTimeout(() => fail(`was not ready within ${waitMs} ms.`), waitMs)
  try {
    const line = await promise
    const { pid } = child
    if (pid === undefined) throw new Error(`${args.join(' ')} has no pid.`)
    return { pid, line, stop }
  } catch (error) {
    await stop()
    throw error
  } finally {
    clearTimeout(timer)
  }
}

export interface Program {
  pid: number
  stop(): Promise<void>
}

/**
 * One that is not Node: the libSQL server, workerd. It ends with us, as under `npm start`. `ready`
 * resolves when the process serves requests, and rejects if it fails to start.
 */
export async function startProgram(spec: ChildSpec, ready: () => Promise<void>): Promise<Program> {
  let child: TiedChild | undefined
  const stop = async () => {
    child?.stop()
    await child?.ended
  }
  const forget = stopsToo(stop)
  child = spawnChild(spec)
  void child.ended.then(forget)
  try {
    await ready()
  } catch (error) {
    await stop()
    throw error
  }
  const { pid } = child
  if (pid === undefined) throw new Error(`${spec.name} has no pid.`)
  return { pid, stop }
}
