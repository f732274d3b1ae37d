// git as a person runs it, whatever the configuration of the machine says.

import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const run = promisify(execFile)
const AS = ['-c', 'user.name=t', '-c', 'user.email=t@example.org', '-c', 'commit.gpgsign=false']

/** What it prints. Throws with its error. */
export async function git(
  dir: string,
  env: Readonly<Record<string, string>>,
  ...args: readonly string[]
): Promise<string> {
  const own = { ...env, GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null' }
  return (await run('git', [...AS, ...args], { cwd: dir, env: own })).stdout.trim()
}
