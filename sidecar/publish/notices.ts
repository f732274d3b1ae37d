// The rules of notices as they are published, and the commands that the edge has due: only their
// names leave this machine, and what runs here stands in signalbox.config.ts.

import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { errorCode } from '../../worker/shared/file-errors.ts'
import type { Log } from '../../worker/shared/log.ts'
import type { NoticeRule } from '../../worker/shared/notice-rules.ts'
import type { PublishedRule } from '../../worker/shared/notice-schemas.ts'
import type { CommandEdge } from './edge.ts'

/** What the edge knows of the rules, and what to do when it has commands. */
export interface NoticePlan {
  rules: readonly PublishedRule[]
  /** Fetches and runs them, one after the other. Does not wait for it. */
  due(edge: CommandEdge): void
}

type Command = readonly [program: string, ...args: string[]]

const COMMAND_MS = 30_000

export function noticePlan(rules: readonly NoticeRule[], log: Log): NoticePlan {
  const commands = new Map<string, Command>()
  const published = rules.map(({ to, ...rule }): PublishedRule => {
    if (!('command' in to)) return { ...rule, to }
    const name = nameOf(to.command)
    const [program = '', ...args] = to.command
    commands.set(name, [program, ...args])
    return { ...rule, to: { command: name } }
  })
  const runDue = async (edge: CommandEdge): Promise<void> => {
    const due = await edge.dueCommands()
    if (!due.ok) {
      log('warn', 'notice.not_fetched', { why: due.message })
      return
    }
    for (const { id, command, text, body } of due.value.commands) {
      const known = commands.get(command)
      const error = known ? await run(known, text, body) : 'This sidecar has no such command.'
      const level = error === undefined ? 'info' : 'warn'
      log(level, 'notice.ran', { id, ...(error !== undefined && { error }) })
      const taken = await edge.commandRan({ id, ...(error !== undefined && { error }) })
      // It is due again: the command sees the same id.
      if (!taken.ok) log('warn', 'notice.not_reported', { id, why: taken.message })
    }
  }
  const running = new WeakSet<CommandEdge>()
  /** They have had something due since they were last asked. */
  const signalled = new WeakSet<CommandEdge>()
  const runSignalled = async (edge: CommandEdge): Promise<void> => {
    running.add(edge)
    while (signalled.delete(edge))
      await runDue(edge).catch((error) => log('error', 'sidecar.defect', { error }))
    running.delete(edge)
  }
  return {
    rules: published,
    due(edge) {
      signalled.add(edge)
      if (!running.has(edge)) void runSignalled(edge)
    },
  }
}

/** The same at each start. */
const nameOf = (command: readonly string[]): string =>
  createHash('sha256').update(JSON.stringify(command)).digest('hex').slice(0, 16)

/** Without a shell. Resolves with why it failed: readers see it, and no path of the file. */
function run([program, ...args]: Command, text: string, body: string): Promise<string | undefined> {
  // No argument can hold a NUL; a title can.
  const argument = text.replaceAll('\0', '\uFFFD')
  const ended = new Promise<string | undefined>((resolve, reject) => {
    const child = spawn(program, [...args, argument], {
      stdio: ['pipe', 'ignore', 'ignore'],
      timeout: COMMAND_MS,
      killSignal: 'SIGKILL',
      windowsHide: true,
    })
    child.once('error', reject)
    child.once('exit', (code, signal) =>
      resolve(code === 0 ? undefined : `It ended with ${signal ?? `exit code ${code}`}.`),
    )
    // Many read none of it.
    child.stdin.on('error', () => undefined)
    child.stdin.end(body)
  })
  return ended.catch((error: unknown) => `It cannot be run: ${errorCode(error)}.`)
}
