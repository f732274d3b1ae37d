// Programs that are measured. They end with us, whatever ends us.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { until } from '../../system/until.ts'
import { Process } from '../harness/process.ts'
import type { ChildSpec } from '../start/child.ts'

const GRACE_MS = 10_000

export interface Program {
  readonly pid: number
  stop(): Promise<void>
}

/** Resolves when the program answers at this URL. */
export async function startProgram(spec: ChildSpec, url?: string): Promise<Program> {
  const program = new Process(spec, url)
  await program.start()
  return programOf(program)
}

function programOf(program: Process): Program {
  const { pid } = program
  if (pid === undefined) throw new Error('The program has no pid.')
  return { pid, stop: () => program.stop() }
}

let started = 0

/**
 * Resolves when a line of output matches, with that line. Rejects with its output, and leaves no
 * process, when it ends before that or takes too long. `dir`: for its log. `env`: variables besides
 * ours. `cwd`: absent: ours.
 */
export async function startNode(
  args: readonly string[],
  ready: RegExp,
  {
    dir,
    waitMs,
    env,
    ...more
  }: {
    dir: string
    waitMs: number
    env?: Readonly<Record<string, string>>
    cwd?: string
  },
): Promise<Program & { line: string }> {
  const logFile = join(dir, `program-${++started}.log`)
  const own = { ...process.env, ...env } as Record<string, string>
  const spec = { name: args.join(' '), command: process.execPath, args, env: own, logFile, ...more }
  const program = new Process({ ...spec, graceMs: GRACE_MS })
  await program.start()
  let line: string | undefined
  const isReady = () => {
    const lines = readFileSync(logFile, 'utf8').split('\n').slice(0, -1)
    line = lines.find((it) => ready.test(it))
    return line !== undefined
  }
  await program
    .ready((wait) => until(isReady, wait), waitMs)
    .catch((cause: Error) => {
      throw new Error(readFileSync(logFile, 'utf8').slice(-2_000), { cause })
    })
  return { ...programOf(program), line: line ?? '' }
}
