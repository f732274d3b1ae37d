// A program that a test runs, and reads as a person does.

import { spawn } from 'node:child_process'
import { once } from 'node:events'

export interface Ended {
  code: number | null
  signal: NodeJS.Signals | null
}

export interface Program {
  /** What it has printed, on both outputs. */
  readonly output: string
  readonly hasEnded: boolean
  readonly ended: Promise<Ended>
  /** Resolves when it has ended. */
  stop(signal?: NodeJS.Signals): Promise<Ended>
}

export function startProgram(
  [command = '', ...args]: readonly string[],
  options: { cwd: string; env: NodeJS.ProcessEnv },
): Program {
  const child = spawn(command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  let hasEnded = false
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
  }
  const ended = once(child, 'close').then(([code, signal]): Ended => {
    hasEnded = true
    return { code, signal }
  })
  return {
    get output() {
      return output
    },
    get hasEnded() {
      return hasEnded
    },
    ended,
    stop(signal) {
      child.kill(signal)
      return ended
    },
  }
}
