// The directory of boards: the port, for every adapter, and over HTTP, for every host.

import { describe, expect, it } from 'vitest'
import {
  type Directory,
  FORGET_MS,
  listedBoard,
  type Put,
  type Reporter,
} from '../../worker/board/directory/directory.ts'
import { sqliteDirectory } from '../../worker/board/directory/directory-sqlite.ts'
import type { BoardReport } from '../../worker/board/wire.ts'
import type { Sql } from '../../worker/shared/sql.ts'
import { boardReport, publishedRepo, Repo, taskRecord, token } from '../support/edge.ts'
import { jsonOf } from '../support/json-of.ts'
import type { Board } from './board.ts'

const NOW = Date.parse('2026-01-05T10:00:00Z')
const MINUTE = 60_000
const HOUR = 60 * MINUTE
const ENDED = { state: 'ended', version: '1.2.3' } as const

const reporter = (by: Partial<Reporter> = {}): Reporter => ({
  holder: 'somebody',
  maxBoards: 1_000,
  now: NOW,
  ...by,
})

/** `open`: an empty directory, or one that is shared with other tests. */
export function directoryContract(name: string, open: () => Promise<Directory>): void {
  async function setUp() {
    const directory = await open()
    const prefix = `${crypto.randomUUID()}/`
    const put = (board: string, fields: Partial<BoardReport> = {}, now = NOW) =>
      directory.put(`${prefix}${board}`, boardReport(fields), reporter({ now }))
    const rows = async (now = NOW) => await directory.list([`${prefix}*`], now)
    return {
      directory,
      prefix,
      put,
      rows,
      states: async (now: number) =>
        (await rows(now)).map((row) => listedBoard(row, now).sidecar.state),
      names: async (now?: number) => (await rows(now)).map(({ path }) => path.slice(prefix.length)),
    }
  }

  describe(`the directory of boards in ${name}`, () => {
    it('lists each board once, sorted by path, with what it reported last', async () => {
      const { prefix, put, rows } = await setUp()
      await put('b')
      await put('a', { title: 'An “a” – 日本' })
      await put('b', { counts: { tasks: 9, closed: 9, ready: 0 }, store: 'missing' }, NOW + 1)
      const [a, b, ...others] = await rows()
      expect(others).toEqual([])
      expect(a).toEqual({
        path: `${prefix}a`,
        report: boardReport({ title: 'An “a” – 日本' }),
        seenAt: NOW,
        isOffline: false,
      })
      const counts = { tasks: 9, closed: 9, ready: 0 }
      const report = boardReport({ counts, store: 'missing' })
      expect(b).toEqual({ path: `${prefix}b`, report, seenAt: NOW + 1, isOffline: false })
    })

    it('lists the boards that are covered, by name or prefix, and no others', async () => {
      const { directory, prefix, put } = await setUp()
      for (const board of ['team/a', 'team/b', 'team', 'teams', 'x']) await put(board)
      const listed = async (...repos: string[]) => {
        const rows = await directory.list(
          repos.map((repo) => `${prefix}${repo}`),
          NOW,
        )
        return rows.map(({ path }) => path.slice(prefix.length))
      }
      expect(await listed('team/*')).toEqual(['team/a', 'team/b'])
      expect(await listed('team')).toEqual(['team'])
      expect(await listed('x', 'team/b', 'absent')).toEqual(['team/b', 'x'])
      expect(await listed()).toEqual([])
    })

    it('a sidecar that reports is running, and offline when it did not for more than a day', async () => {
      const { put, states } = await setUp()
      await put('a')
      expect(await states(NOW + 25 * HOUR - 1)).toEqual(['running'])
      expect(await states(NOW + 25 * HOUR)).toEqual(['offline'])
      await put('a', {}, NOW + 60 * HOUR)
      expect(await states(NOW + 60 * HOUR)).toEqual(['running'])
      // The clock was set back.
      expect(await states(NOW)).toEqual(['offline'])
    })

    it('a sidecar that was found offline is that, since then, until it reports again', async () => {
      const { directory, prefix, put, rows, states } = await setUp()
      await put('a')
      const found = (since: number, readAt: number, board = 'a') =>
        directory.offline(`${prefix}${board}`, { since, readAt })
      // The report followed what it was heard of last.
      await found(NOW - 1_000, NOW + 50_000)
      expect(await states(NOW)).toEqual(['offline'])
      expect(await rows()).toMatchObject([{ seenAt: NOW - 1_000 }])
      await found(NOW, NOW + 60_000)
      expect(await rows()).toMatchObject([{ seenAt: NOW - 1_000 }])
      await put('a', {}, NOW + 5 * MINUTE)
      expect(await states(NOW)).toEqual(['running'])
      // Somebody read that before, and says so now.
      await found(NOW - 1_000, NOW + 5 * MINUTE - 1)
      expect(await states(NOW)).toEqual(['running'])
      await found(NOW, NOW, 'unknown')
      expect(await rows()).toHaveLength(1)
    })

    it('a sidecar that ended in order stays ended, and does not become offline', async () => {
      const { directory, prefix, put, states } = await setUp()
      await put('a', { sidecar: ENDED })
      await directory.offline(`${prefix}a`, { since: NOW, readAt: NOW })
      expect(await states(NOW)).toEqual(['ended'])
      expect(await states(NOW + 48 * HOUR)).toEqual(['ended'])
    })

    it('the row of the later sidecar stands, until that one ends or is offline', async () => {
      const { put, rows } = await setUp()
      const title = async () => (await rows())[0]?.report.title
      expect(await put('a', { run: 1, title: 'first' })).toBe('stored')
      expect(await put('a', { run: 2, title: 'second' })).toBe('stored')
      expect(await put('a', { run: 1, title: 'first' })).toBe('superseded')
      expect(await put('a', { run: 1, sidecar: ENDED })).toBe('superseded')
      expect(await title()).toBe('second')
      expect(await put('a', { run: 2, title: 'second', sidecar: ENDED })).toBe('stored')
      expect(await put('a', { run: 1, title: 'first' })).toBe('stored')
      expect(await title()).toBe('first')
      expect(await put('a', { run: 3, title: 'third' })).toBe('stored')
      expect(await put('a', { run: 1, title: 'first' }, NOW + 25 * HOUR)).toBe('stored')
      expect(await title()).toBe('first')
    })

    it('forgets a board that no sidecar publishes, and no other', async () => {
      const { directory, prefix, put, names } = await setUp()
      await put('ended', { sidecar: ENDED })
      await put('offline')
      await put('runs')
      await directory.offline(`${prefix}offline`, { since: NOW, readAt: NOW })
      const forget = (board: string) => directory.forget(`${prefix}${board}`, NOW)
      expect(await forget('runs')).toBe('published')
      expect(await forget('ended')).toBe('forgotten')
      expect(await forget('ended')).toBe('unknown')
      expect(await forget('offline')).toBe('forgotten')
      expect(await names()).toEqual(['runs'])
      await put('ended', {}, NOW + 8 * MINUTE)
      expect(await names()).toEqual(['ended', 'runs'])
    })

    it('forgets a board after 30 days without a report, and no other', async () => {
      const { put, names } = await setUp()
      await put('old', { sidecar: ENDED })
      await put('kept', { sidecar: ENDED }, NOW + 1)
      expect(await names(NOW + FORGET_MS - 1)).toEqual(['kept', 'old'])
      expect(await names(NOW + FORGET_MS)).toEqual(['kept'])
      await put('new', {}, NOW + FORGET_MS)
      expect(await names(NOW)).toEqual(['kept', 'new'])
    })
  })
}

/** `withSql`: runs the test with an empty database. */
export function boundContract(
  name: string,
  withSql: (test: (sql: Sql) => Promise<void>) => Promise<void>,
): void {
  const filling = (maxBoards: number, test: (full: Filling) => Promise<void>) =>
    withSql(async (sql) => {
      const directory = sqliteDirectory(sql)
      const put: Filling['put'] = (path, holder, after, report = {}) =>
        directory.put(path, boardReport(report), reporter({ holder, maxBoards, now: NOW + after }))
      const paths = async () => (await directory.list(['*'], NOW)).map(({ path }) => path)
      const offline = (path: string, after: number) =>
        directory.offline(path, { since: NOW + after, readAt: NOW + after })
      await test({ put, paths, offline })
    })

  describe(`a full directory of boards in ${name}`, () => {
    it('drops what ended or is offline, the oldest first, and nothing that runs', () =>
      filling(4, async ({ put, paths, offline }) => {
        await put('ended', 'a', 1, { sidecar: ENDED })
        await put('offline', 'b', 0)
        await put('runs', 'c', 7 * MINUTE)
        await put('ends', 'd', 7 * MINUTE + 1, { sidecar: ENDED })
        await offline('offline', 0)
        const later = 7 * MINUTE + 2
        expect(await put('1', 'e', later)).toBe('stored')
        expect(await paths()).toEqual(['1', 'ended', 'ends', 'runs'])
        expect(await put('2', 'f', later)).toBe('stored')
        expect(await put('3', 'g', later)).toBe('stored')
        expect(await paths()).toEqual(['1', '2', '3', 'runs'])
        expect(await put('4', 'h', later)).toBe('full')
        expect(await put('runs', 'c', later)).toBe('stored')
        expect(await paths()).toEqual(['1', '2', '3', 'runs'])
      }))

    it('keeps a quarter for one holder, whose own rows make room for it', () =>
      filling(8, async ({ put, paths }) => {
        await put('other', 'b', 0, { sidecar: ENDED })
        expect(await put('1', 'a', 1)).toBe('stored')
        expect(await put('2', 'a', 2)).toBe('stored')
        expect(await put('3', 'a', 3)).toBe('full')
        await put('1', 'a', 4, { sidecar: ENDED })
        expect(await put('3', 'a', 5)).toBe('stored')
        expect(await paths()).toEqual(['2', '3', 'other'])
      }))
  })
}

interface Filling {
  put(path: string, holder: string, after: number, report?: Partial<BoardReport>): Promise<Put>
  paths(): Promise<string[]>
  offline(path: string, after: number): Promise<void>
}

export function boardsContract({ name, edge, published }: Board): void {
  const put = (repo: Repo, fields: Partial<BoardReport> = {}) =>
    repo.request('/boards', { method: 'PUT', body: JSON.stringify(boardReport(fields)) })
  async function list(repos: string[], headers: Record<string, string> = {}) {
    const Authorization = `Bearer ${await token({ repos, scope: 'board:read' })}`
    return await edge().fetch('/api/boards', { headers: { Authorization, ...headers } })
  }

  describe(`the list of boards on ${name}`, () => {
    it('has what a sidecar reported, and not what none did', async () => {
      const repo = await published(taskRecord('A-1'))
      expect(await jsonOf(await list([repo.path]), 200)).toEqual({ boards: [] })
      const stored = await put(repo)
      expect(await jsonOf(stored, 200)).toEqual({ wire: expect.any(Number) })
      const lastSeenAt = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/)
      expect(await jsonOf(await list([repo.path]), 200)).toEqual({
        boards: [
          {
            path: repo.path,
            title: 'Lamps',
            layout: 'cairn',
            store: 'present',
            counts: { tasks: 3, closed: 1, ready: 2 },
            sidecar: { state: 'running', lastSeenAt, version: '1.2.3' },
            lastChangeAt: '2026-01-05T10:00:00.000Z',
          },
        ],
      })
    })

    it('has the boards that the token covers, also of repositories that do not exist', async () => {
      const repos = [new Repo(edge()), new Repo(edge()), new Repo(edge())]
      for (const repo of repos) await put(repo)
      const paths = repos.map(({ path }) => path)
      const listed = await jsonOf<{ boards: { path: string }[] }>(
        await list([paths[2] ?? '', `${paths[0]}*`]),
        200,
      )
      const expected = [paths[0], paths[2]].toSorted()
      expect(listed.boards.map(({ path }) => path)).toEqual(expected)
      expect((await repos[0]?.request('/status'))?.status).toBe(404)
    })

    it('has what runs first, and what is gone last', async () => {
      const reports: Partial<BoardReport>[] = [
        { store: 'missing', sidecar: ENDED },
        { sidecar: ENDED },
        { title: 'one that runs' },
        { title: 'another one' },
      ]
      const repos = reports.map(() => new Repo(edge()))
      repos.sort((a, b) => (a.path < b.path ? -1 : 1))
      for (const [at, repo] of repos.entries()) await put(repo, reports[at])
      const paths = repos.map(({ path }) => path)
      const listed = await jsonOf<{ boards: { path: string }[] }>(await list(paths), 200)
      const order = listed.boards.map(({ path }) => paths.indexOf(path))
      expect(order).toEqual([2, 3, 1, 0])
    })

    it('forgets a board that no sidecar publishes, for who may publish it', async () => {
      const repo = new Repo(edge())
      const forget = async (scope: string, path = repo.path) => {
        const Authorization = `Bearer ${await token({ repos: [repo.path], scope })}`
        const query = new URLSearchParams({ path })
        return edge().fetch(`/api/boards?${query}`, {
          method: 'DELETE',
          headers: { Authorization },
        })
      }
      const codeOf = async (answer: Promise<Response>, status: number) =>
        (await jsonOf<{ code: string }>(await answer, status)).code
      expect(await codeOf(forget('board:write'), 404)).toBe('unknown_repository')
      await put(repo)
      expect(await codeOf(forget('board:write'), 409)).toBe('published')
      await put(repo, { sidecar: ENDED })
      expect(await codeOf(forget('board:read'), 403)).toBe('forbidden')
      expect(await codeOf(forget('board:write', 'another'), 403)).toBe('forbidden')
      expect(await codeOf(forget('board:write', 'x'.repeat(513)), 400)).toBe('invalid_path')
      expect(await jsonOf(await list([repo.path]), 200)).toMatchObject({ boards: [{}] })
      expect((await forget('board:write')).status).toBe(204)
      expect(await jsonOf(await list([repo.path]), 200)).toEqual({ boards: [] })
      await put(repo)
      expect(await jsonOf(await list([repo.path]), 200)).toMatchObject({ boards: [{}] })
    })

    it('is not sent again while nothing is reported', async () => {
      const repo = new Repo(edge())
      await put(repo)
      const first = await list([repo.path])
      await first.text()
      const ask = { 'If-None-Match': first.headers.get('ETag') ?? '' }
      expect((await list([repo.path], ask)).status).toBe(304)
      await put(repo, { title: 'Other lamps' })
      const again = await list([repo.path], ask)
      expect(await jsonOf(again, 200)).toMatchObject({ boards: [{ title: 'Other lamps' }] })
    })

    it('refuses a report of a sidecar that was superseded, and a malformed one', async () => {
      const repo = new Repo(edge())
      await put(repo, { run: 2 })
      expect(await jsonOf(await put(repo, { run: 1 }), 409)).toMatchObject({ code: 'superseded' })
      for (const fields of [
        { title: '' },
        { title: 'x'.repeat(201) },
        { changedAt: 'yesterday' },
        { counts: { tasks: -1, closed: 0, ready: 0 } },
        { layout: 'x'.repeat(65) as 'cairn' },
      ]) {
        const refused = await jsonOf(await put(repo, fields), 400)
        expect(refused).toMatchObject({ code: 'invalid_request' })
      }
    })

    it('knows no query parameter', async () => {
      const repo = await publishedRepo(edge())
      const refused = await repo.request('/boards')
      expect(await jsonOf(refused, 400)).toMatchObject({ code: 'unknown_filter' })
    })
  })
}
