// The systems that are measured with a board, behind one face: start one, and ask it as a typical
// client does, by one event stream and a read after each event.

import { readFile } from 'node:fs/promises'
import * as http from 'node:http'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { SIGNALBOX } from '../harness/config.ts'
import { childrenOf } from './proc.ts'
import { lineIn, START_WAIT_MS, startNode } from './programs.ts'

/**
 * How results name them: npm start, on workerd; signalbox dev; the baseline as one writes it; and
 * the same with one more option, which ignores the temporary files of a save.
 */
export const LABEL = {
  signalbox: 'Signalbox on workerd',
  'signalbox-node': 'Signalbox, one Node process',
  chokidar: 'chokidar + SSE',
  'chokidar-tuned': 'chokidar + SSE, tuned',
}
export type System = keyof typeof LABEL

export interface Target extends AsyncDisposable {
  system: string
  /** The process that watches the files. */
  pid: number
  /** From the start of that process until it knows the board and, for a sidecar, the edge does. */
  readyMs: number
  /** Until it printed that it is ready. Of a large first board it shows its progress after that. */
  printedMs: number
  /** URL of a path under it, with the repository's name in its query. */
  url(path: string): URL
  headers: Readonly<Record<string, string>>
}

/** `dataDir` keeps what a system stores between two starts; the baseline stores nothing. */
export const startTarget = (system: System, boardDir: string, dataDir: string): Promise<Target> =>
  system === 'signalbox' || system === 'signalbox-node'
    ? startSignalbox(system, boardDir, dataDir)
    : startBaseline(system, boardDir, dirname(dataDir))

async function startSignalbox(
  system: 'signalbox' | 'signalbox-node',
  boardDir: string,
  dataDir: string,
): Promise<Target> {
  const isNode = system === 'signalbox-node'
  const board = isNode ? ['dev', boardDir] : ['start', '--store', boardDir]
  const more = ['--repo', 'bench', '--port', '0', '--data', dataDir, '--trust-data']
  const startedAt = performance.now()
  // Its output is beside the data, which is kept from one start to the next.
  const place = { dir: dirname(dataDir) }
  const { program } = await startNode([SIGNALBOX, ...board, ...more], /^signalbox ready /, place)
  const printedMs = Math.round(performance.now() - startedAt)
  const log = join(dataDir, `logs/${isNode ? 'signalbox' : 'sidecar'}.log`)
  const ready = await program.ready((wait) => lineIn(log, /"sidecar\.ready"/, wait), START_WAIT_MS)
  const local = JSON.parse(await readFile(join(dataDir, 'local.json'), 'utf8'))
  return {
    system: LABEL[system],
    pid: isNode ? program.pid : sidecarOf(program.pid),
    printedMs,
    readyMs: Number(JSON.parse(ready).ms),
    url: urlsOf(local.url, local.path),
    headers: { authorization: `Bearer ${local.tokens.board}` },
    [Symbol.asyncDispose]: () => program.stop(),
  }
}

function sidecarOf(start: number): number {
  const isSidecar = ({ command }: { command: string }) => command.includes('cli/signalbox.ts watch')
  const sidecar = childrenOf(start).find(isSidecar)
  if (!sidecar) throw new Error('The sidecar was not found among the processes of npm start.')
  return sidecar.pid
}

async function startBaseline(system: System, boardDir: string, dir: string): Promise<Target> {
  const file = join(import.meta.dirname, 'baseline.ts')
  const args = [file, boardDir, ...(system === 'chokidar-tuned' ? ['--ignore-temporary'] : [])]
  const { program, line } = await startNode(args, /^baseline ready /, { dir })
  const [, url = '', ms] = /(http:\S+) in (\d+) ms/.exec(line) ?? []
  return {
    system: LABEL[system],
    pid: program.pid,
    readyMs: Number(ms),
    printedMs: Number(ms),
    url: urlsOf(url, 'bench'),
    headers: {},
    [Symbol.asyncDispose]: () => program.stop(),
  }
}

const urlsOf = (base: string, repo: string) => (path: string) => {
  const url = new URL(path, base)
  url.searchParams.set('path', repo)
  return url
}

export interface Message {
  type: 'task-changed' | 'tasks-changed' | 'session-changed'
  id?: string
}

/** The stream of a target. With node:http, since `fetch` would add to the measured time. */
export class Messages implements Disposable {
  readonly #request: http.ClientRequest
  readonly #broken = Promise.withResolvers<never>()
  #onMessage: (message: Message, at: number) => void = () => undefined

  private constructor({ url, headers: own, system }: Target, opened: () => void) {
    this.#broken.promise.catch(() => undefined)
    const fail = (why: string) => this.#broken.reject(new Error(`The stream of ${system}: ${why}`))
    const headers = { ...own, accept: 'text/event-stream' }
    this.#request = http.get(url('/api/events'), { headers, agent: false }, (response) => {
      if (response.statusCode !== 200) return fail(`it answered ${response.statusCode}`)
      let rest = ''
      response.setEncoding('utf8').on('data', (part: string) => {
        const at = performance.now()
        const blocks = (rest + part).split('\n\n')
        rest = blocks.pop() ?? ''
        for (const block of blocks) {
          const data = /^data:(.*)$/m.exec(block)?.[1]
          if (data) this.#onMessage(JSON.parse(data), at)
          else if (block.startsWith(': connected')) opened()
        }
      })
      response.on('close', () => fail('it ended'))
    })
    this.#request.on('error', (error) => fail(error.message))
  }

  static async open(target: Target): Promise<Messages> {
    const opened = Promise.withResolvers<void>()
    const messages = new Messages(target, opened.resolve)
    await Promise.race([opened.promise, messages.#broken.promise])
    return messages
  }

  /**
   * When the bytes of the one that is meant arrived (`performance.now`); undefined: there was none
   * in time. Rejects where the stream breaks.
   */
  async next(waitMs: number, isMeant: (message: Message) => boolean): Promise<number | undefined> {
    const arrived = Promise.withResolvers<number | undefined>()
    this.#onMessage = (message, at) => {
      if (isMeant(message)) arrived.resolve(at)
    }
    const timer = setTimeout(() => arrived.resolve(undefined), waitMs)
    try {
      return await Promise.race([arrived.promise, this.#broken.promise])
    } finally {
      clearTimeout(timer)
    }
  }

  [Symbol.dispose](): void {
    this.#request.destroy()
  }
}

const agent = new http.Agent({ keepAlive: true })

export async function read({ headers, url }: Target, path: string) {
  const response = await new Promise<http.IncomingMessage>((resolve, reject) => {
    http.get(url(path), { headers, agent }, resolve).on('error', reject)
  })
  return { status: response.statusCode, text: await text(response) }
}
