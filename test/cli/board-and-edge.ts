// A board in a temporary folder, an edge in this process, and signalbox as a real process.

import { type ChildProcess, spawn } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, vi } from 'vitest'
import { writeLocalJson } from '../../system/data/local-json.ts'
import { type EdgeServer, serveEdge } from '../sidecar/edge-server.ts'
import { SECRET, token } from '../support/edge.ts'
import { PATIENT } from '../support/patience.ts'
import { giveSecret, programEnv } from '../support/run-home.ts'
import { tempFolder } from '../support/temp-folder.ts'

const PROGRAM = join(import.meta.dirname, '../../cli/signalbox.ts')
export const REPO = 'cli'

export const until = (check: () => void | Promise<void>): Promise<void> =>
  vi.waitFor(check, PATIENT)

/** What one test works with. Tests may replace the board, the edge and the token. */
class BoardAndEdge {
  readonly home: string
  board: string
  server: EdgeServer
  bearer: string
  readonly #children: ChildProcess[] = []

  private constructor(home: string, server: EdgeServer, bearer: string) {
    this.home = home
    this.board = join(home, 'board')
    this.server = server
    this.bearer = bearer
  }

  static async open(): Promise<BoardAndEdge> {
    const home = tempFolder()
    const made = new BoardAndEdge(home, await serveEdge(), await token({ repos: [REPO] }))
    await made.makeBoard()
    return made
  }

  async makeBoard(): Promise<void> {
    await mkdir(join(this.board, '.cairn/tasks'), { recursive: true })
    const config = 'prefix: T\nstates: [open, done]\nclosed: [done]\ninitial: open\n'
    await writeFile(join(this.board, '.cairn/config.yaml'), config)
    await this.save('T-1', 'One')
    await this.save('T-2', 'Two')
  }

  save(id: string, title: string): Promise<void> {
    const text = `---\ntitle: ${title}\nstatus: open\n---\nbody\n`
    return writeFile(join(this.board, `.cairn/tasks/${id}.md`), text)
  }

  /** The data folder of a running `signalbox start`. */
  async dataFolder(dir = join(this.home, 'data'), repos = [REPO]): Promise<string> {
    const { url } = this.server
    await mkdir(dir)
    await giveSecret(dir, SECRET)
    await writeLocalJson(dir, {
      url,
      path: REPO,
      database: url,
      simulator: url,
      databaseToken: 'd',
      gateways: {},
      boards: [{ path: REPO, dir: this.board, layout: 'cairn' }],
      tokens: { board: 'b', sidecar: this.bearer, payments: await token({ repos }) },
    })
    return dir
  }

  env() {
    return {
      SIGNALBOX_EDGE: this.server.url,
      SIGNALBOX_REPO: REPO,
      SIGNALBOX_TOKEN: this.bearer,
      SIGNALBOX_CACHE: join(this.home, 'cache'),
    }
  }

  /** Starts a real process. `logs` returns its logs so far. */
  start(argv: string[], more: Record<string, string> = {}) {
    const child = spawn(process.execPath, [PROGRAM, ...argv], {
      env: { ...programEnv(this.home), ...this.env(), ...more },
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    this.#children.push(child)
    let logs = ''
    child.stderr.on('data', (chunk: Buffer) => {
      logs += chunk.toString()
    })
    const exit = new Promise<number | null>((resolve) => child.once('close', resolve))
    return { child, exit, logs: () => logs }
  }

  /** A read of the edge. */
  get(route: string): Promise<Response> {
    const headers = { Authorization: `Bearer ${this.bearer}` }
    return this.server.edge.fetch(`/api/${route}?path=${REPO}`, { headers })
  }

  /** The title of a task at the edge, or the code of the error. */
  async title(id: string): Promise<unknown> {
    const answer = await this.get(`tasks/${id}`)
    const body = (await answer.json()) as { title?: string; code?: string }
    return body.title ?? body.code
  }

  async close(): Promise<void> {
    for (const child of this.#children) {
      if (child.exitCode === null && child.signalCode === null) {
        child.kill('SIGKILL')
        await new Promise((resolve) => child.once('exit', resolve))
      }
    }
    await this.server.close()
  }
}

/** Those of the current test. */
export let cli: BoardAndEdge

/** Opens both before each test of the calling file, and closes them afterwards. */
export function useBoardAndEdge(): void {
  beforeEach(async () => {
    cli = await BoardAndEdge.open()
  })
  afterEach(() => cli.close())
}
