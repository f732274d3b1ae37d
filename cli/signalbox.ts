// The process around a command line: V8's settings, streams, signals, the exit code.

import * as nodeModule from 'node:module'
import { createInterface } from 'node:readline/promises'
import { format } from 'node:util'
import { setFlagsFromString } from 'node:v8'
import { compileCache } from '../worker/shared/user-folders-node.ts'
import type { Io, ShutdownOptions } from './terminal.ts'

// Before any other code is loaded, since V8 must be set before its heap has grown. A sidecar
// allocates much at its start and keeps little. V8 would double its young generation up to
// 3 × 16 MiB for that, and never give it back: 115 MiB of a sidecar with 100,000 tasks. An edge
// allocates with every request: with so small a one it would collect thirty times as often.
if (process.argv[2] !== 'serve') setFlagsFromString('--semi-space-growth-factor=1')
// What is loaded from here on is compiled once: without it, 0.4 s of a start are spent on removing
// the types from its sources, with it 0.1 s. Deno has no such cache.
const { enableCompileCache }: Partial<typeof nodeModule> = nodeModule
const compiled = compileCache(process.env)
if (compiled !== undefined) enableCompileCache?.(compiled)

/**
 * npm passes on a Ctrl-C that the terminal gave us already, so a second signal that follows this
 * closely is the first one again.
 */
const SAME_SIGNAL_MS = 500
const LOOK_FOR_NPM_MS = 1_000
/** Questions to the parent so far. */
let asked = 0

// Before the command line is read, since a mistake in it is a line of the log, too.
const [, typedLog] = / --log[= ](\S+)/.exec(` ${process.argv.slice(2).join(' ')}`) ?? []
const logsJson = (typedLog ?? process.env.SIGNALBOX_LOG) === 'json'
if (logsJson) await logAllAsJson()

const { main } = await import('./program.ts')
const { stopWithinMs } = await import('./environment.ts')
const { noticeTo } = await import('./terminal.ts')
const { printableStack } = await import('../worker/shared/log.ts')
const io = processIo()
const code = await main(process.argv.slice(2), {
  io,
  env: process.env,
  cwd: process.cwd(),
  async loadFile(choice) {
    const { loadOwnConfig } = await import('./own-config.ts')
    return await loadOwnConfig(process.cwd(), choice)
  },
}).catch((error: unknown) => {
  // A defect. Node would print its message as it is, with what names of files have in them.
  if (logsJson) throw error
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error)
  io.err(`${printableStack(stack)}\n`)
  return 1
})
// A pipe takes all that was written first. A handle that a watcher left open must not keep us.
process.stdout.write('', () => process.stderr.write('', () => process.exit(code)))

/** Else what a configuration, a library or Node prints would be no line of the log. */
async function logAllAsJson(): Promise<void> {
  const { createLog } = await import('../worker/shared/log.ts')
  const log = createLog('json', (line) => void process.stderr.write(line))
  const levels = { log: 'info', info: 'info', warn: 'warn', error: 'error' } as const
  for (const name of ['log', 'info', 'warn', 'error'] as const) {
    console[name] = (...values) => log(levels[name], 'console', { message: format(...values) })
  }
  process.removeAllListeners('warning')
  process.on('warning', (warning) => log('warn', 'process.warning', { warning }))
  process.on('uncaughtException', (error) => {
    log('error', 'process.failed', { error })
    process.exit(1)
  })
}

function processIo(): Io {
  // The reader of our output may end before us (`| head`); our work goes on.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined)
  return {
    out: (text) => void process.stdout.write(text),
    err: (text) => void process.stderr.write(text),
    isTerminal: process.stderr.isTTY === true,
    ...(process.stdin.isTTY && process.stderr.isTTY && { ask }),
    logsJson,
    shutdownSignal,
    // A parent that has ended takes nothing any more.
    ...(process.send && {
      sendToParent: (message) => void process.send?.(message, () => undefined),
      askParent,
    }),
  }
}

/** The messages of a parent that are no answer are not for us. */
function askParent(about: object): Promise<{ why?: string }> {
  const asks = ++asked
  const { promise, resolve } = Promise.withResolvers<{ why?: string }>()
  const onMessage = (message: { why?: string }) => {
    if (!('answers' in message) || message.answers !== asks) return
    process.off('message', onMessage)
    resolve(message)
  }
  process.on('message', onMessage)
  process.send?.({ asks, about }, () => undefined)
  return promise
}

/** Standard output is for results. */
async function ask(question: string): Promise<string> {
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return await lines.question(question)
  } finally {
    lines.close()
  }
}

function shutdownSignal({
  withParent,
  npmScript,
  onSecondSignal,
  onHangup,
}: ShutdownOptions = {}): AbortSignal {
  const asked = new AbortController()
  const stopMs = stopWithinMs(process.env)
  let first: number | undefined
  const ask = (why: string) => {
    if (first === undefined) endInTime(stopMs, why)
    first ??= performance.now()
    if (performance.now() - first <= SAME_SIGNAL_MS) asked.abort(why)
    // The user does not want to wait for the rest.
    else if (onSecondSignal) onSecondSignal()
    else process.exit(1)
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => ask(signal))
  process.on('SIGHUP', onHangup ?? (() => ask('SIGHUP')))
  if (withParent) {
    for (const event of ['end', 'error']) process.stdin.on(event, () => ask('parent'))
    process.stdin.resume()
  }
  if (npmScript?.startsWith('start')) {
    // If npm is killed with SIGKILL, it passes nothing on, and nothing would end us. Only under
    // npm: a start in the background may outlive its shell.
    const npm = process.ppid
    const look = setInterval(() => {
      if (process.ppid === npm) return
      clearInterval(look)
      ask('npm')
    }, LOOK_FOR_NPM_MS)
    look.unref()
  }
  return asked.signal
}

/** Whatever promise hangs: a supervisor that waits for us must not. */
function endInTime(ms: number, why: string): void {
  const end = () => {
    noticeTo(processIo(), 'error')(`It did not end within ${ms / 1_000} s of ${why}: killed.`)
    process.exit(1)
  }
  setTimeout(end, ms).unref()
}
