// What a script does to a board is told at once, and an export of it shows any change.

import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Activity, ActivityRow } from '../../libraries/api/types.ts'
import { hashAfter, trailerOf } from '../../worker/board/activity/activity-chain.ts'
import { serveEdge } from '../sidecar/edge-server.ts'
import { git, initialize } from '../sidecar/git/git-folder.ts'
import { jsonOf } from '../support/json-of.ts'
import { cli, REPO, until, useBoardAndEdge } from './board-and-edge.ts'
import { run } from './run.ts'

useBoardAndEdge()

const read = async () => (await jsonOf<Activity>(await cli.get('activity'), 200)).activity
const history = (...argv: string[]) =>
  run(['history', '--url', cli.server.url, '--board', REPO, ...argv], cli.env())

async function writeAll(dir: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    await mkdir(join(dir, name, '..'), { recursive: true })
    await writeFile(join(dir, name), text)
  }
}

const names = Array.from({ length: 12 }, (_, n) => n + 1)

/** A board with twelve open tasks, and a script that deletes 3, closes 5 and rewrites one. */
const BOARDS = {
  'backlog-md': {
    files: {
      'backlog/config.yml': 'project_name: Tea\nstatuses: ["To Do", "Done"]\n',
      ...Object.fromEntries(
        names.map((n) => [
          `backlog/tasks/task-${n} - Cup.md`,
          `---\nid: TASK-${n}\ntitle: Cup ${n}\nstatus: To Do\n---\nTea.\n`,
        ]),
      ),
    },
    async script(dir: string) {
      const file = (n: number) => join(dir, `backlog/tasks/task-${n} - Cup.md`)
      for (const n of [1, 2, 3]) await rm(file(n))
      for (const n of [4, 5, 6, 7, 8]) {
        const text = await readFile(file(n), 'utf8')
        await writeFile(file(n), text.replace('To Do', 'Done'))
      }
      const text = await readFile(file(9), 'utf8')
      await writeFile(file(9), text.replace('Cup 9', 'Another'))
    },
  },
  openspec: {
    files: {
      'openspec/changes/tea/tasks.md': names.map((n) => `- [ ] 1.${n} Pour ${n}\n`).join(''),
    },
    async script(dir: string) {
      const file = join(dir, 'openspec/changes/tea/tasks.md')
      const lines = (await readFile(file, 'utf8')).split('\n').filter((line) => line !== '')
      const ticked = (line: string) => line.replace('[ ]', '[x]')
      const left = lines.slice(3).map((line, at) => (at < 5 ? ticked(line) : line))
      await writeFile(file, `${left.join('\n').replace('Pour 9', 'Another')}\n`)
    },
  },
}

describe.each(Object.entries(BOARDS))('on a board of %s', (_, { files, script }) => {
  test('what a script deletes, closes and rewrites, and then commits, is told at once', async () => {
    cli.board = join(cli.home, 'project')
    await writeAll(cli.board, files)
    initialize(cli.board)
    const { logs } = cli.start(['watch', cli.board, '--verbose'])
    const isPublished = async () =>
      expect((await read()).map(({ kind }) => kind)).toEqual(['published'])
    await until(isPublished)
    await script(cli.board)
    git(cli.board, 'add', '-A')
    git(cli.board, 'commit', '-qm', 'tidy up')
    const counted = (rows: ActivityRow[]) =>
      [...Map.groupBy(rows, ({ kind }) => kind)].map(([kind, of]) => `${of.length} ${kind}`)
    await until(async () => {
      const tasks = (await read()).filter(({ task }) => task?.match(/\d$/))
      expect(new Set(counted(tasks))).toEqual(new Set(['1 title', '3 deleted', '5 status']))
    })
    // The scan of every half minute found none of it.
    expect(logs()).toContain('"event":"scan.done"')
    expect(logs()).not.toMatch(/"reason":"periodic"[^\n]*"changed":[1-9]/)
    expect((await read()).some(({ kind }) => kind === 'switched')).toBe(false)
  })
})

test('a switch of branches is told, also while no file of the board changes', async () => {
  initialize(cli.board)
  cli.start(['watch', cli.board])
  await until(async () => expect(await read()).toHaveLength(1))
  const branch = git(cli.board, 'branch', '--show-current').trim()
  await until(async () =>
    expect(await (await cli.get('status')).json()).toMatchObject({ main: { branch } }),
  )
  const isAt = async (head: string) =>
    expect(await (await cli.get('status')).json()).toMatchObject({ main: { head } })
  git(cli.board, 'commit', '-q', '--allow-empty', '-m', 'of no task')
  const head = git(cli.board, 'rev-parse', 'HEAD').trim()
  await until(() => isAt(head))
  git(cli.board, 'switch', '-q', '-c', 'feat')
  await until(async () => {
    const [row] = await read()
    expect(row).toMatchObject({ kind: 'switched', changes: { branch: [branch, 'feat'] } })
    expect(row?.changes).not.toHaveProperty('head')
  })
  await rm(join(cli.board, '.cairn/tasks/T-1.md'))
  await until(async () => expect((await read())[0]).toMatchObject({ kind: 'deleted' }))
  git(cli.board, 'commit', '-qam', 'less')
  git(cli.board, 'switch', '-q', branch)
  await until(async () => {
    const [created] = await read()
    expect(created).toMatchObject({ kind: 'created', task: 'T-1', by: 'switch' })
  })
})

describe('an export', () => {
  const exported = async () => {
    const { code, out } = await history('--export')
    expect(code).toBe(0)
    const file = join(cli.home, 'history.jsonl')
    const verified = async (text: string) => {
      await writeFile(file, text)
      return await history('--verify', file)
    }
    return { out, lines: out.trimEnd().split('\n'), verified }
  }
  const publish = async () => {
    for (const title of ['One', 'Uno', 'Un', 'Eins']) {
      await cli.save('T-1', title)
      await run(['sync', cli.board], cli.env())
    }
  }

  test('is whole as it is, and no line can be changed, dropped or moved, nor an end cut', async () => {
    await publish()
    const { out, lines, verified } = await exported()
    expect(await verified(out)).toMatchObject({ code: 0, out: expect.stringContaining('whole') })
    const rows = lines.length - 1
    expect(rows).toBeGreaterThan(3)
    const faulty: string[][] = []
    for (let at = 0; at < rows; at++) {
      const [line = '', next = ''] = lines.slice(at)
      faulty.push(lines.toSpliced(at, 1))
      faulty.push(lines.toSpliced(at, 2, next, line))
      faulty.push(lines.toSpliced(at, 1, line.replace(/"at":"\d{4}/, '"at":"1999')))
      faulty.push(lines.toSpliced(at, 1, line.replace('"kind":', '"kind": ')))
      faulty.push(lines.toSpliced(at, 0, line))
      faulty.push(lines.slice(0, at + 1))
      faulty.push(lines.slice(at + 1))
    }
    for (const other of faulty) {
      const { code, out: said } = await verified(`${other.join('\n')}\n`)
      expect([code, said, other]).toEqual([1, expect.stringMatching(/cut off|Line \d/), other])
    }
  })

  test('does not become a log by a head that is put into it, or in the place of a row', async () => {
    await publish()
    const { lines, verified } = await exported()
    const [{ seq, hash }] = (await read()) as [ActivityRow]
    const head = JSON.stringify({ event: 'history.head', seq, head: hash })
    for (const gone of [0, 1]) {
      const text = lines.toSpliced(1, gone, head).join('\n')
      expect(await verified(text)).toMatchObject({
        code: 1,
        out: expect.stringContaining('Line 2: it is no row'),
      })
    }
  })

  test('whose beginning is cut is found out, also with an end that was written anew', async () => {
    await publish()
    const { lines, verified } = await exported()
    const [first, ...rows] = lines.slice(0, -1).map((line) => JSON.parse(line))
    const text = [...rows, trailerOf(rows, first.hash)].map((line) => JSON.stringify(line))
    expect(await verified(text.join('\n'))).toMatchObject({
      code: 1,
      out: expect.stringContaining('beginning is cut'),
    })
  })

  test('whose end is cut and written anew says before which row it ends', async () => {
    await publish()
    const { lines, verified } = await exported()
    const rows = lines.slice(0, -1).map((line) => JSON.parse(line))
    const [cut] = rows.slice(-1)
    const left = rows.slice(0, -1)
    const text = [...left, trailerOf(left, '0'.repeat(64))].map((line) => JSON.stringify(line))
    expect(await verified(text.join('\n'))).toMatchObject({
      code: 0,
      out: expect.stringContaining(`It ends before row ${cut.seq}, of ${cut.at}.`),
    })
  })

  test('of more than a page is printed page by page, the oldest row first', async () => {
    await run(['sync', cli.board], cli.env())
    for (let n = 1; n <= 1_100; n++) await cli.save(`W-${n}`, `Task ${n}`)
    await run(['sync', cli.board], cli.env())
    const [newest] = await read()
    const { lines, out, verified } = await exported()
    const rows = lines.slice(0, -1).map((line) => JSON.parse(line).seq)
    expect(rows.length).toBeGreaterThan(1_100)
    expect(rows).toEqual(Array.from({ length: newest?.seq ?? 0 }, (_, n) => n + 1))
    expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({ count: rows.length, first: 1 })
    expect((await verified(out)).code).toBe(0)
  })

  test('of another history, or of rows that are not there any more, is not whole', async () => {
    await publish()
    const { out, verified } = await exported()
    await cli.server.close()
    cli.server = await serveEdge()
    await publish()
    expect(await verified(out)).toMatchObject({
      code: 1,
      out: expect.stringMatching(/is another one here|ends at/),
    })
  })

  test('is printed with what is marked in it', async () => {
    for (const status of ['open', 'done', 'open']) {
      const text = `---\ntitle: Two\nstatus: ${status}\n---\n`
      await writeFile(join(cli.board, '.cairn/tasks/T-2.md'), text)
      await run(['sync', cli.board], cli.env())
    }
    const { out, lines, verified } = await exported()
    expect(out).not.toContain('marks')
    expect(await verified(out)).toMatchObject({
      code: 0,
      out: expect.stringMatching(/ {2}\[reopened\] {2}status {2}T-2 {2}.*\nIt is whole: /),
    })
    // Another history has none of these rows.
    let previous = '0'.repeat(64)
    const rows = lines.slice(0, -1).map((line) => {
      const { hash: _, ...row } = { ...JSON.parse(line), at: '1999-01-01T00:00:00.000Z' }
      previous = hashAfter(previous, JSON.stringify(row))
      return { ...row, hash: previous }
    })
    const other = [...rows, trailerOf(rows, '0'.repeat(64))].map((row) => JSON.stringify(row))
    expect(await verified(other.join('\n'))).toMatchObject({
      code: 1,
      out: expect.stringMatching(/^Row \d+ is another one here/),
    })
  })

  test('is compared with the heads in a log, too', async () => {
    await publish()
    const { verified } = await exported()
    const [row] = await read()
    const head = { level: 'info', event: 'history.head', seq: row?.seq, head: row?.hash }
    const log = ['no JSON', JSON.stringify(head)].join('\n')
    expect(await verified(log)).toMatchObject({ code: 0, out: expect.stringContaining('1 heads') })
    const wrong = JSON.stringify({ ...head, head: '0'.repeat(64) })
    expect(await verified(wrong)).toMatchObject({ code: 1 })
  })
})

test('what happened is printed, narrowed by task and time, as lines or JSON', async () => {
  await run(['sync', cli.board], cli.env())
  await cli.save('T-1', 'Uno')
  await run(['sync', cli.board], cli.env())
  expect(await history('--task', 'T-1')).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^\d{4}-\S+ {2}title {2}T-1 {2}Uno {2}title One → Uno\n$/),
  })
  expect(await history('--actor', 'nobody', '--json')).toMatchObject({
    code: 0,
    out: `{"board":"${REPO}","activity":[]}\n`,
    err: expect.stringContaining('Nothing of that happened'),
  })
  expect(await history('--since', '2999-01-01T00:00:00Z')).toMatchObject({
    code: 1,
    err: expect.stringContaining('since'),
  })
  expect(await history('--export', '--task', 'T-1')).toMatchObject({ code: 2 })
  expect(await history('--verify', 'none.jsonl')).toMatchObject({ code: 2 })
})
