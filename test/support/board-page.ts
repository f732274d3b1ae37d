// The board view alone in a browser, with the security policy of the page, over a fake board. It
// counts the renders of each card.

import { join } from 'node:path'
import { build } from 'esbuild'
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect } from 'vitest'
import type { BoardStatus, Session, Task, TaskDetail } from '../../libraries/client/index.ts'
import { PAGE_HEADERS } from '../../worker/console/routes.ts'
import { closePages, openChromium } from './chromium.ts'
import { FIRST } from './made-up-board.ts'

const ORIGIN = 'https://board.test'
const ROOT = new URL('../..', import.meta.url).pathname

const ENTRY = `
  import './console/style/style.css'
  import { signal } from '@preact/signals'
  import { h, render } from 'preact'
  import { BoardView } from './console/board/board-view.tsx'
  import { Card } from './console/board/card.tsx'
  import { merge } from './console/data/http.ts'

  const live = {
    path: '/boards/lamp',
    state: signal({ name: 'connecting', since: 0 }),
    tasks: signal(), sessions: signal(), status: signal(),
    changedAt: signal(new Map()), signals: signal([]), reading: signal(undefined),
    task: async (id) => board.details[id],
  }
  const draw = Card.prototype.render
  Card.prototype.render = function () {
    board.drawn.push(this.props.card.task.id)
    return draw.call(this)
  }
  globalThis.board = {
    live, drawn: [], details: {},
    update({ tasks, sessions, status, state, details }) {
      if (details) board.details = details
      if (state) live.state.value = state
      if (status) live.status.value = status
      if (sessions) live.sessions.value = merge(live.sessions.value ?? new Map(), sessions).items
      if (!tasks) return
      const isFirst = !live.tasks.value
      const { items, changed } = merge(live.tasks.value ?? new Map(), tasks)
      const at = changed.map((id) => [id, Date.now()])
      live.tasks.value = items
      if (!isFirst) live.changedAt.value = new Map([...live.changedAt.value, ...at])
    },
  }
  const frame = document.body.appendChild(document.createElement('div'))
  frame.className = 'frame'
  frame.append(document.createElement('header'))
  const main = frame.appendChild(document.createElement('main'))
  render(h(BoardView, { live }), main)
`

export interface BoardUpdate {
  tasks?: readonly Task[]
  sessions?: readonly Session[]
  status?: BoardStatus
  state?: object
  /** The details of tasks by id. A missing id: there is no such task. */
  details?: Readonly<Record<string, TaskDetail>>
}

const json = (body: object) => ({ type: 'application/json', body: JSON.stringify(body) })

/** What the edge says before a sidecar has begun to read, and of a board that has only tasks. */
const API = new Map([
  ['/api/status', json({})],
  ['/api/activity', json({ activity: [] })],
  ['/api/board-settings', json({ paused: false, perParent: false, atMost: null })],
])

export class BoardPage {
  readonly page: Page
  /** Errors of scripts, and violations of the security policy. */
  readonly errors: string[]

  private constructor(page: Page, errors: string[]) {
    this.page = page
    this.errors = errors
  }

  static async open(browser: Browser, hash = ''): Promise<BoardPage> {
    const page = await browser.newPage({ viewport: { width: 1200, height: 700 } })
    const errors: string[] = []
    page.on('pageerror', (error) => errors.push(String(error)))
    page.on('console', (message) => {
      if (message.type() === 'error') errors.push(message.text())
    })
    const files = await bundled()
    await page.route(`${ORIGIN}/**`, (route) => {
      const { pathname } = new URL(route.request().url())
      const file = API.get(pathname) ?? files.get(pathname)
      const headers = { ...PAGE_HEADERS, 'Content-Type': file?.type ?? 'text/plain' }
      return route.fulfill({ status: file ? 200 : 404, headers, body: file?.body ?? '' })
    })
    await page.goto(`${ORIGIN}/${hash}`)
    await page.waitForFunction('globalThis.board !== undefined')
    return new BoardPage(page, errors)
  }

  update(update: BoardUpdate): Promise<void> {
    return this.page.evaluate(`board.update(${JSON.stringify(update)})`)
  }

  /** The ids of the cards rendered since the last call, in order. */
  drawn(): Promise<string[]> {
    return this.page.evaluate('board.drawn.splice(0)')
  }

  /** The card that has the focus. */
  focused(): Promise<string | undefined> {
    return this.page.evaluate(`document.activeElement?.closest('[data-card]')?.dataset.card`)
  }

  card(id: string) {
    return this.page.locator(`[data-card="${id}"]`)
  }
}

/**
 * Opens boards for the tests of a `describe`, in a browser of their own. They are closed after each
 * test, and none may have had an error.
 */
export function boardPages() {
  const opened: BoardPage[] = []
  let browser: Browser
  beforeAll(async () => {
    browser = await openChromium()
  })
  afterEach(async () => {
    const boards = opened.splice(0)
    for (const { page } of boards) await page.close()
    expect(boards.flatMap(({ errors }) => errors)).toEqual([])
  })
  afterAll(() => closePages(browser))

  /** A board without data. */
  const open = async (hash?: string): Promise<BoardPage> => {
    const board = await BoardPage.open(browser, hash)
    opened.push(board)
    return board
  }
  return {
    open,
    async openFull(hash?: string): Promise<BoardPage> {
      const board = await open(hash)
      await board.update(FIRST)
      await board.card('LAMP-4').waitFor()
      return board
    },
    newContext: () => browser.newContext(),
  }
}

interface File {
  type: string
  body: string
}

let files: Promise<ReadonlyMap<string, File>> | undefined

/** Once for all test files of this process. */
function bundled(): Promise<ReadonlyMap<string, File>> {
  files ??= bundle()
  return files
}

async function bundle(): Promise<ReadonlyMap<string, File>> {
  const { outputFiles } = await build({
    // The output of the first is called `stdin`.
    stdin: { contents: ENTRY, resolveDir: ROOT, loader: 'ts' },
    entryPoints: [join(ROOT, 'console/board/detail/markdown-worker.ts')],
    outdir: '/',
    entryNames: '[name]',
    bundle: true,
    splitting: true,
    format: 'esm',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    write: false,
  })
  const html =
    '<!doctype html><html lang="en"><head><title>Board</title>' +
    '<meta name="markdown-worker" content="/markdown-worker.js">' +
    '<link rel="stylesheet" href="/stdin.css"><script type="module" src="/stdin.js"></script>' +
    '</head><body></body></html>'
  const files = outputFiles.map(({ path, text }): [string, File] => [
    path,
    { type: path.endsWith('.css') ? 'text/css' : 'text/javascript', body: text },
  ])
  return new Map([['/', { type: 'text/html', body: html }], ...files])
}
