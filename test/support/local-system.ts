// A system started as a user does, in its own process, with access to its child processes.

import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { cp, readdir, readFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { vi } from 'vitest'
import type { LocalJson } from '../../system/data/local-json.ts'
import { SIGNALBOX } from '../../tools/harness/config.ts'
import type { Task } from '../../worker/board/wire.ts'
import type { OpenedPayment } from '../../worker/payments/domain/types.ts'
import { EventStream } from './event-stream.ts'
import { jsonOf } from './json-of.ts'
import { documentedFetch } from './openapi-operations.ts'
import { PATIENT } from './patience.ts'
import type { Ended } from './program.ts'
import { programEnv } from './run-home.ts'
import { tempFolder } from './temp-folder.ts'

export type Launch = (args: string[]) => { command: string; args: string[]; cwd?: string }

/** The program without npm, so that tests see its pid and exit code. It builds what it serves. */
export const alone: Launch = (args) => ({
  command: process.execPath,
  args: ['cli/signalbox.ts', 'start', ...args],
})
/** With the page and the Worker that the run has built. */
const withBundles: Launch = (args) => {
  const { command, args: program } = alone(args)
  const bundles = new URL('made-bundles.ts', import.meta.url)
  bundles.searchParams.set('in', process.env.BUILT_BUNDLES ?? '')
  return { command, args: [`--import=${bundles.href}`, ...program] }
}
export const throughNpm: Launch = (args) => ({
  command: 'npm',
  args: ['start', '--silent', '--', ...args],
})
/** In one process; the store's folder is the argument. */
const inOne =
  (program: string, command: string): Launch =>
  (args) => ({
    command: process.execPath,
    args: [program, command, ...args.map((arg) => arg.replace(/^--store=/, ''))],
    // Where no configuration is that would be run.
    cwd: dirname(program),
  })
export const oneProcess = inOne(SIGNALBOX, 'dev')
export const serve = inOne(SIGNALBOX, 'serve')
export const fromSources = inOne(resolve('cli/bin.js'), 'dev')

/** What a first start of `signalbox` or `serve` says, as a line of a pattern. */
export const MADE = 'signalbox: Made a new database of payments: PAYMENT_INSTALLATION=\\w{32}\n'

/** A start builds the page and the Worker, and waits for four programs. */
const READY_MS = 100_000

/** One running system. Its folders are temporary. */
export class Start {
  readonly storeDir: string
  readonly dataDir: string
  stdout = ''
  stderr = ''
  readonly process: ChildProcess
  readonly ended: Promise<Ended>

  constructor(storeDir: string, dataDir: string, plan: StartPlan) {
    const { args = [], env, onlyEnv, launch = withBundles, port = 'any' } = plan
    this.storeDir = storeDir
    this.dataDir = dataDir
    const ofPort = port === 'any' ? ['--port=0'] : []
    const all = [...ofPort, `--store=${storeDir}`, `--data=${dataDir}`, ...args]
    const { command, args: argv, cwd } = launch(all)
    this.process = spawn(command, argv, {
      cwd,
      env: onlyEnv ?? { ...programEnv(process.env.HOME ?? ''), ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    this.process.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.stdout += text
    })
    this.process.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.stderr += text
    })
    this.ended = once(this.process, 'close').then(([code, signal]) => ({ code, signal }))
  }

  get readyLines(): string[] {
    return this.stdout.split('\n').filter((line) => line.startsWith('signalbox ready'))
  }

  async ready(): Promise<this> {
    const isDecided = () => this.readyLines.length > 0 || this.process.exitCode !== null
    await vi.waitUntil(isDecided, { ...PATIENT, timeout: READY_MS })
    if (this.readyLines.length === 0) throw new Error(`it did not start: ${this.stderr}`)
    return this
  }

  async local(): Promise<LocalJson> {
    return JSON.parse(await readFile(join(this.dataDir, 'local.json'), 'utf8')) as LocalJson
  }

  /** With the board token, unless `headers` contain another one. With a body it is a POST. */
  async fetch(
    route: string,
    headers: Record<string, string> = {},
    body?: unknown,
  ): Promise<Response> {
    const { url, tokens } = await this.local()
    return documentedFetch(url)(`/api${route}`, {
      headers: { authorization: `Bearer ${tokens.board}`, ...headers },
      ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
    })
  }

  async json<T>(route: string): Promise<T> {
    return jsonOf<T>(await this.fetch(route))
  }

  async payments<T>(route: string, body?: unknown): Promise<T> {
    const authorization = `Bearer ${(await this.local()).tokens.payments}`
    return jsonOf<T>(await this.fetch(`/payments${route}`, { authorization }, body))
  }

  charge(reference: string, more: object = {}): Promise<OpenedPayment> {
    return this.payments('/charges', {
      gateway: 'redirect',
      reference,
      amount: 25_000,
      currency: 'IQD',
      description: 'A lamp',
      ...more,
    })
  }

  /** While the edge is away there is none. */
  title(id: string): Promise<string> {
    return this.json<Task>(`/tasks/${id}`).then(({ title }) => title, String)
  }

  async stream(lastEventId?: string): Promise<EventStream> {
    const headers = lastEventId === undefined ? undefined : { 'Last-Event-ID': lastEventId }
    return new EventStream(await this.fetch('/events', headers))
  }

  /** All processes of this start: their command lines contain its data folder. */
  async children(): Promise<{ pid: number; name: string; command: string }[]> {
    const all = await processes()
    return all
      .filter(({ pid, command }) => pid !== this.process.pid && command.includes(this.dataDir))
      .map(({ pid, command }) => ({ pid, name: nameOf(command), command }))
  }

  async pidOf(name: string): Promise<number> {
    const found = (await this.children()).find((child) => child.name === name)
    if (!found) throw new Error(`there is no ${name}`)
    return found.pid
  }

  /** Kills one of the processes, and waits until it runs again with another pid. */
  async killAndWait(name: string): Promise<void> {
    const before = await this.pidOf(name)
    process.kill(before, 'SIGKILL')
    const isBack = async () => (await this.pidOf(name).catch(() => before)) !== before
    await vi.waitUntil(isBack, PATIENT)
  }

  /**
   * The programs that outlived it. What tied them to it has had its SIGKILL by then, and is gone as
   * soon as the machine comes to it.
   */
  async survivors(): Promise<string[]> {
    const names = (await this.children()).map(({ name }) => name)
    await this.nothingLeft()
    return names.filter((name) => name !== 'tie')
  }

  async nothingLeft(): Promise<void> {
    await vi.waitUntil(async () => (await this.children()).length === 0, PATIENT)
  }
}

function nameOf(command: string): string {
  const [program = ''] = command.split(' ')
  if (program === '/bin/sh') return 'tie'
  if (command.includes('simulator/main.ts')) return 'simulator'
  return command.includes('cli/signalbox.ts watch') ? 'sidecar' : program.replace(/^.*\//, '')
}

async function processes(): Promise<{ pid: number; command: string }[]> {
  if (existsSync('/proc/self/cmdline')) {
    const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
    const read = pids.map(async (pid) => {
      // A process may end between the listing and the read.
      const line = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
      return { pid: Number(pid), command: line.replaceAll('\0', ' ') }
    })
    return Promise.all(read)
  }
  const { stdout } = await promisify(execFile)('ps', ['-Awwo', 'pid=,args='])
  return [...stdout.matchAll(/^\s*(\d+) (.*)$/gm)].map(([, pid, command = '']) => ({
    pid: Number(pid),
    command,
  }))
}

export interface StartPlan {
  args?: string[]
  env?: Record<string, string>
  /** In place of the usual environment. */
  onlyEnv?: Record<string, string>
  /** Default: a copy of the example. */
  storeDir?: string
  dataDir?: string
  /** That of the last start with its data folder. Default: any. */
  port?: 'any' | 'last'
  /** Default: `npm start` without npm, and with what the run has built. */
  launch?: Launch
}

/** Starts systems, and ends them. */
export class Starts {
  readonly #starts: Start[] = []

  async start(plan: StartPlan = {}): Promise<Start> {
    const folder = tempFolder()
    const store = plan.storeDir ?? join(folder, 'board')
    if (plan.storeDir === undefined) await cp('examples/board', store, { recursive: true })
    const start = new Start(store, plan.dataDir ?? join(folder, 'data'), plan)
    this.#starts.push(start)
    return start
  }

  /** Ends all systems, with SIGKILL if needed. */
  async clear(): Promise<void> {
    const starts = this.#starts.splice(0)
    for (const start of starts.toReversed()) {
      start.process.kill('SIGTERM')
      const late = setTimeout(() => start.process.kill('SIGKILL'), 15_000)
      await start.ended
      clearTimeout(late)
    }
    // A later one may have the data folder of an earlier one: what is left is left of both.
    for (const start of starts) await start.nothingLeft()
  }
}
