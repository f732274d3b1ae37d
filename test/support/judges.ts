// The tools of the boards, which are asked what they say of a folder. They are nobody's dependency:
// the environment variable BOARD_TOOLS names a folder in which npm installed them.

import { execFile, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chmod, cp, readdir, readFile, writeFile } from 'node:fs/promises'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { tempFolder } from './temp-folder.ts'

const { BOARD_TOOLS = '' } = process.env

/** Why they are not asked; empty if they are. Part of the name of what is skipped. */
export const noTools =
  BOARD_TOOLS === '' ? ' (skipped: BOARD_TOOLS names no folder with the tools)' : ''

/** Packages of Debian that are not installed. */
const PYTHONPATH = join(BOARD_TOOLS, 'python/usr/lib/python3/dist-packages')
/** The system's. */
export const PYTHON = '/usr/bin/python3'

/** Like `noTools`, for a tool in Python that imports this. */
export function noPython(module: string): string {
  const env = { PYTHONPATH }
  const can = noTools === '' && spawnSync(PYTHON, ['-c', `import ${module}`], { env }).status === 0
  return noTools || (can ? '' : ` (skipped: ${PYTHON} has no ${module})`)
}

/**
 * Task Master does not report to its makers what it is asked. Its reporter would take half of the
 * seconds of each call.
 */
export const UNREPORTED = {
  '.taskmaster/config.json': '{"global":{"anonymousTelemetry":false}}',
} as const

/** A copy of a real board of Task Master, whose own settings say that it reports. */
export async function copyOfTaskMaster(board: string): Promise<string> {
  const dir = await copyOf(board)
  const path = join(dir, '.taskmaster/config.json')
  const config = JSON.parse(await readFile(path, 'utf8')) as { global: object }
  const global = { ...config.global, anonymousTelemetry: false }
  await writeFile(path, JSON.stringify({ ...config, global }))
  return dir
}

/** What Task Master answers as JSON, behind sentences of its own. */
export async function askTaskMaster<Answer>(args: string[], dir: string): Promise<Answer> {
  const out = await runTaskMaster(args, dir)
  return JSON.parse(out.slice(out.indexOf('{'))) as Answer
}

let taskMaster: ReturnType<typeof startTaskMaster> | undefined

/** What it prints. One call after the other, in one process. */
export function runTaskMaster(args: string[], dir: string): Promise<string> {
  taskMaster ??= startTaskMaster()
  return taskMaster(args, dir)
}

/** It ends with this process, as its input does. */
function startTaskMaster() {
  const script = fileURLToPath(new URL('task-master.mjs', import.meta.url))
  const dist = inTools('node_modules/task-master-ai/dist')
  const home = tempFolder()
  const child = spawn(process.execPath, [script, dist], {
    cwd: home,
    env: judgeEnv(home),
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  child.unref()
  for (const pipe of [child.stdin, child.stdout]) (pipe as Socket).unref()
  const lines = createInterface({ input: child.stdout })
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`Task Master ended with exit code ${code}.`)
  })
  // It may end with nobody asking.
  ended.catch(() => undefined)
  let last: Promise<unknown> = Promise.resolve()
  return (args: string[], dir: string): Promise<string> => {
    const answered = last.then(async () => {
      child.stdin.write(`${JSON.stringify({ args, dir })}\n`)
      const [line] = await Promise.race([once(lines, 'line'), ended])
      return JSON.parse(line) as string
    })
    last = answered.catch(() => undefined)
    return answered
  }
}

/** A tool may write beside the board that it lists, and real boards are for reading only. */
export async function copyOf(board: string): Promise<string> {
  const dir = tempFolder()
  await cp(board, dir, { recursive: true })
  const names = await readdir(dir, { recursive: true, withFileTypes: true })
  await chmod(dir, 0o755)
  for (const entry of names) {
    await chmod(join(entry.parentPath, entry.name), entry.isDirectory() ? 0o755 : 0o644)
  }
  return dir
}

/** `tool`: in the folder of the tools, or absolute. */
export async function ask(tool: string, args: string[], cwd: string): Promise<string> {
  const env = judgeEnv(cwd)
  const bin = tool.startsWith('/') ? tool : inTools(tool)
  const { stdout } = await promisify(execFile)(bin, args, { cwd, env, maxBuffer: 64 * 2 ** 20 })
  return stdout
}

/** Its own HOME: a tool must not read or write the settings of whoever runs the tests. */
function judgeEnv(home: string): NodeJS.ProcessEnv {
  const { PATH, NODE_COMPILE_CACHE } = process.env
  const quiet = { CI: 'true', NO_COLOR: '1', DO_NOT_TRACK: '1' }
  return { PATH, PYTHONPATH, NODE_COMPILE_CACHE, HOME: home, ...quiet }
}

export const inTools = (path: string): string => join(BOARD_TOOLS, path)

/** Of Debian's package prometheus: beside the tools, or installed. */
export const PROMTOOL = [inTools('prometheus/usr/bin/promtool')].find(existsSync) ?? 'promtool'

/** Why it is not asked; empty if it is. Part of the name of what is skipped. */
export const noPromtool =
  spawnSync(PROMTOOL, ['--version']).error === undefined
    ? ''
    : ' (skipped: there is no promtool, of the package prometheus)'
