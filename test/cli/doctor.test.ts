import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Finding } from '../../cli/doctor/findings.ts'
import type { Task } from '../../worker/board/wire.ts'
import type { PublishedRule } from '../../worker/shared/notice-schemas.ts'
import { serveEdge } from '../sidecar/edge-server.ts'
import {
  freshHash,
  NOTICE_SECRET,
  publishedRepo,
  SECRET,
  syncRoot,
  token,
} from '../support/edge.ts'
import { processEdge } from '../support/in-process-edge.ts'
import { cli, REPO, until, useBoardAndEdge } from './board-and-edge.ts'
import { run } from './run.ts'

useBoardAndEdge()

describe('doctor', () => {
  const checks = (out: string): Record<string, string> =>
    Object.fromEntries(
      (JSON.parse(out) as { findings: Finding[] }).findings.map(({ about, level }) => [
        about,
        level,
      ]),
    )

  test('finds no problem, and publishes nothing', async () => {
    const { code, out } = await run(['doctor', cli.board, '--json'], cli.env())
    expect(code).toBe(0)
    expect(checks(out)).toMatchObject({
      board: 'ok',
      names: 'ok',
      files: 'ok',
      texts: 'ok',
      edge: 'ok',
      clock: 'ok',
    })
    expect(await cli.title('T-1')).toBe('unknown_repository')
  })

  test('names files with a wrong name or invalid content, without failing', async () => {
    await writeFile(join(cli.board, '.cairn/tasks/no id.md'), 'x')
    await writeFile(join(cli.board, '.cairn/tasks/T-3.md'), '---\ntitle: [\n---\n')
    const { code, out } = await run(['doctor', cli.board], cli.env())
    expect(code).toBe(0)
    expect(out).toMatch(/^warn {3}names .*no id\.md/m)
    expect(out).toMatch(/^warn {3}files .*T-3\.md/m)
  })

  test('names ids of several tasks, and a task that is a link, as the API does', async () => {
    const dir = join(cli.home, 'doubles')
    const save = (name: string, id: string) =>
      writeFile(join(dir, 'backlog/tasks', name), `---\nid: ${id}\ntitle: T\nstatus: To Do\n---\n`)
    await mkdir(join(dir, 'backlog/tasks'), { recursive: true })
    await writeFile(join(dir, 'backlog/config.yml'), 'project_name: x\n')
    await save('task-1 - One.md', 'TASK-1')
    await save('task-1 - Two.md', 'task-1')
    await save('task-2 - Own.md', 'TASK-2')
    await symlink('task-2 - Own.md', join(dir, 'backlog/tasks/task-3 - Link.md'))
    const { code, out } = await run(['doctor', dir], cli.env())
    expect(code).toBe(0)
    expect(out).toMatch(
      /^warn {3}ids .*1 ids .*(task|TASK)-1 \(2 times, in .*One\.md and .*Two\.md\)/m,
    )
    expect(out).toMatch(/^warn {3}files .*Link\.md \(The file is a link/m)
    // What is so young may not be written yet, and a sync does not wait for it.
    await until(async () => {
      expect((await run(['sync', dir], cli.env())).code).toBe(0)
      const { tasks } = (await (await cli.get('tasks')).json()) as { tasks: Task[] }
      const invalid = tasks.filter((task) => task.invalid !== undefined).map(({ id }) => id)
      expect(invalid).toEqual(['TASK-1~2', 'TASK-3'])
    })
  })

  test('names the folder in which the status file of a sprint is missing', async () => {
    const dir = join(cli.home, 'sprint')
    await mkdir(join(dir, '.bmad/_cfg'), { recursive: true })
    await mkdir(join(dir, '.bmad/bmm'))
    await writeFile(join(dir, '.bmad/_cfg/manifest.yaml'), 'modules: []\n')
    await writeFile(join(dir, '.bmad/bmm/config.yaml'), 'sprint_artifacts: docs/sprints\n')
    const { code, out } = await run(['doctor', dir], cli.env())
    expect(code).toBe(0)
    expect(out).toMatch(/^warn +board .*There is no sprint-status\.yaml in docs\/sprints/m)
  })

  test('names texts that will be cut or left out, and texts that are nearly too large', async () => {
    const kib = 1024
    const task = (body: string) => `---\ntitle: Long\nstatus: open\n---\n${body}`
    await writeFile(join(cli.board, '.cairn/tasks/T-3.md'), task('x'.repeat(513 * kib)))
    await writeFile(join(cli.board, '.cairn/tasks/T-4.md'), task('x'.repeat(511 * kib)))
    await writeFile(join(cli.board, '.cairn/tasks/T-5.md'), task('\x01'.repeat(500 * kib)))
    await writeFile(join(cli.board, '.cairn/tasks/T-6.md'), task('\x01'.repeat(285 * kib)))
    await mkdir(join(cli.board, '.cairn/runs'))
    const log = 'cmd: x\nexit: 0  timedout: false  duration: 1s\n----\n'
    const name = 'T-1-20260101-100000.000.log'
    await writeFile(join(cli.board, '.cairn/runs', name), `${log}${'o'.repeat(700 * kib)}`)
    const { code, out } = await run(['doctor', cli.board], cli.env())
    expect(code).toBe(0)
    const lines = out.split('\n').filter((line) => line.includes('  texts '))
    expect(lines).toEqual([
      expect.stringMatching(/^warn .*2 texts.*512 KiB.*cut: .*T-3\.md.*T-1-2026\S+\.log[^,]*$/),
      expect.stringMatching(/^warn .*1 records? .*left out: .*T-5\.md[^,]*$/),
      expect.stringMatching(/^warn .*1 records? .*near.*T-6\.md[^,]*$/),
    ])
  })

  test('uses edge, repository and token of a running system with --data', async () => {
    const dir = await cli.dataFolder()
    const { code, out } = await run(['doctor', cli.board, '--json', '--data', dir])
    expect([code, checks(out)]).toMatchObject([0, { edge: 'ok', clock: 'ok' }])
    const both = await run(['doctor', cli.board, '--data', dir, '--edge', cli.server.url])
    expect([both.code, both.err]).toEqual([2, expect.stringContaining('give one of them')])
  })

  test('fails while the service cannot store payments, although its edge answers', async () => {
    const serve = async (answer: () => Response) => {
      await cli.server.close()
      const hostFetch = (request: Request) =>
        new URL(request.url).pathname === '/healthz' ? answer() : undefined
      cli.server = await serveEdge(processEdge({ hostFetch }))
    }
    const why = 'The data folder cannot be written: is the disk full?'
    const [full, gone] = [{ status: 'unavailable', error: why }, 'Bad gateway']
    await serve(() => Response.json(full, { status: 503 }))
    const bad = await run(['doctor', cli.board], cli.env())
    expect(bad.code).toBe(1)
    expect(bad.out).toMatch(/^error +health .*\(\/healthz answers 503\): .*is the disk full\?$/m)
    expect(bad.out).toMatch(/^ok +edge .*accepts the token/m)
    await serve(() => new Response(gone, { status: 502 }))
    const behind = await run(['doctor', '--data', await cli.dataFolder()], {}, { cwd: cli.board })
    expect([behind.code, behind.out]).toEqual([1, expect.stringMatching(/^error +health .*502/m)])
    await serve(() => Response.json({ status: 'ok' }))
    const good = await run(['doctor', cli.board, '--json'], cli.env())
    expect([good.code, checks(good.out)]).toMatchObject([0, { health: 'ok' }])
    await serve(() => Response.json({ status: 'ok', warnings: ['Is the clock right?'] }))
    const warned = await run(['doctor', cli.board], cli.env())
    expect([warned.code, warned.out]).toEqual([
      0,
      expect.stringMatching(/^warn(ing)? +health +Is the clock right\?$/m),
    ])
    // An application of one's own, which has no such route.
    await serve(() => new Response('<html>', { status: 200 }))
    const other = await run(['doctor', cli.board, '--json'], cli.env())
    expect([other.code, checks(other.out).health]).toEqual([0, undefined])
  })

  test('says which rules of notices the edge cannot follow, and what is wrong with its secret', async () => {
    const rules: PublishedRule[] = [
      { on: 'stalled', to: { webhook: 'https://shop.example/hook' } },
      { on: 'review', to: { ntfy: 'https://ntfy.sh/x' } },
    ]
    const found = async (env: Record<string, string>) => {
      await cli.server.close()
      cli.server = await serveEdge(processEdge({ env: { AUTH_SECRETS: SECRET, ...env } }))
      const repo = await publishedRepo(cli.server.edge)
      await repo.sync({ ...syncRoot(repo.run, { root: freshHash() }), notices: rules })
      cli.bearer = await token({ repos: [repo.path] })
      const { code, out } = await run(['doctor', cli.board], {
        ...cli.env(),
        SIGNALBOX_REPO: repo.path,
      })
      return [code, out.split('\n').filter((line) => line.includes('  notices '))]
    }
    expect(await found({ NOTICE_SECRET })).toEqual([
      0,
      [expect.stringMatching(/^ok +notices +The rules of the board \(2\) can be followed\.$/)],
    ])
    const why = /^error +notices +stalled sends nothing by webhook: No valid NOTICE_SECRET is set: /
    expect(await found({})).toEqual([1, [expect.stringMatching(why)]])
    const own = await run(['doctor', cli.board], { NOTICE_SECRET: 'geheim' })
    expect([own.code, own.out]).toEqual([
      1,
      expect.stringMatching(/^error +notices +NOTICE_SECRET: a secret must begin with whsec_\.$/m),
    ])
  })

  test('names each board that watch would publish and the token does not cover', async () => {
    const spec = join(cli.board, 'packages/web/.kiro/specs/tea')
    await mkdir(spec, { recursive: true })
    await writeFile(join(spec, 'tasks.md'), '- [ ] 1. Boil\n')
    const one = await run(['doctor', cli.board], cli.env())
    expect(one.code).toBe(1)
    expect(one.out).toMatch(/^error +token .*: it does not cover cli\/packages\/web#kiro\.$/m)
    cli.bearer = await token({ repos: [REPO, `${REPO}/*`] })
    const both = await run(['doctor', cli.board, '--json'], cli.env())
    expect([both.code, checks(both.out)]).toMatchObject([0, { token: 'warn', edge: 'ok' }])
  })

  test('finds the board above, and the running system of its project, which it names first', async () => {
    const deep = join(cli.board, 'src/deep')
    await mkdir(deep, { recursive: true })
    const alone = await run(['doctor'], {}, { cwd: deep })
    expect([alone.code, alone.out]).toEqual([0, expect.stringContaining('name one with --edge')])
    expect(alone.out).toMatch(/^ok +board .*: 2 tasks, 1 configuration\.$/m)
    await cli.dataFolder(join(cli.board, '.signalbox'))
    for (const [argv, cwd] of [
      [['doctor'], deep],
      [['doctor', cli.board], '/'],
    ] as const) {
      const { code, out } = await run([...argv], {}, { cwd })
      expect([code, out]).toEqual([
        0,
        expect.stringMatching(/^ok +system .*board\/\.signalbox\.\n/),
      ])
      expect(out).toMatch(/^ok +edge .*accepts the token/m)
    }
    const payments = await run(['payments', 'doctor'], {}, { cwd: deep })
    expect(payments.out).toMatch(/^ok +system .*board\/\.signalbox\.\n/)
    const other = await run(['doctor', '--edge', 'http://127.0.0.1:1'], cli.env(), { cwd: deep })
    expect([other.code, other.out]).toEqual([1, expect.not.stringContaining('system')])
  })

  test('looks beyond the top of a git repository only for a system that has a board of it', async () => {
    const nested = join(cli.board, 'nested')
    await mkdir(join(nested, '.git'), { recursive: true })
    await mkdir(join(nested, 'src'))
    const data = await cli.dataFolder(join(cli.board, '.signalbox'))
    const system = async () => {
      const { out } = await run(['doctor'], {}, { cwd: join(nested, 'src') })
      return /^ok +system +(.*)$/m.exec(out)?.[1]
    }
    expect(await system()).toBeUndefined()
    const file = join(data, 'local.json')
    const local = JSON.parse(await readFile(file, 'utf8'))
    const board = { path: 'x', dir: nested, layout: 'kiro' }
    await writeFile(file, JSON.stringify({ ...local, boards: [...local.boards, board] }))
    expect(await system()).toContain(data)
  })

  test('looks at all boards of a project, and says what is wrong with which', async () => {
    const spec = join(cli.board, 'packages/web/.kiro/specs/tea')
    await mkdir(spec, { recursive: true })
    await writeFile(join(spec, 'tasks.md'), '- [ ] 1. Boil\n- [ ] 1. Again\n')
    await writeFile(join(cli.board, '.cairn/tasks/no id.md'), 'x')
    await symlink(join(cli.board, '.cairn'), join(cli.board, 'packages/.cairn'))
    const { code, out } = await run(['doctor'], {}, { cwd: join(cli.board, 'packages') })
    const lines = out.replaceAll(/ +/g, ' ').replaceAll(cli.board, '~').trimEnd().split('\n')
    expect([code, lines]).toEqual([
      0,
      [
        'ok board cairn in ~/.cairn: 2 tasks, 1 configuration.',
        'ok board kiro in ~/packages/web/.kiro: 1 file of tasks.',
        expect.stringMatching(
          /^warn board The board in ~\/packages is a link that leads out of it/,
        ),
        expect.stringMatching(
          /^warn names 1 files among the tasks are ignored.*: ~\/.cairn\/tasks\/no id\.md \(its name is no id\)\.$/,
        ),
        'ok files Every file can be read.',
        expect.stringMatching(
          /^warn ids 1 ids belong to several tasks.*~\/packages\/web\/.*\/tasks\.md/,
        ),
        'ok texts Nothing will be cut: every text is shorter than 512 KiB.',
        expect.stringMatching(/^ok inotify .*\(9 needed for 4 files\)/),
        expect.stringMatching(/^warn edge Not checked/),
      ],
    ])
  })

  test('does not check the edge without a board', async () => {
    const empty = join(cli.home, 'empty')
    await mkdir(empty)
    for (const argv of [['doctor'], ['doctor', empty]]) {
      const { code, out } = await run(argv, {}, { cwd: empty })
      expect([code, out]).toEqual([1, expect.stringMatching(/^error +board .*no task board.*\n$/)])
    }
  })

  test('checks payments only with --payments', async () => {
    const all = await run(['doctor', cli.board, '--payments', '--json'])
    expect([all.code, checks(all.out)]).toMatchObject([1, { board: 'ok', config: 'error' }])
    const boardOnly = await run(['doctor', cli.board, '--json'])
    expect([boardOnly.code, checks(boardOnly.out).config]).toEqual([0, undefined])
  })

  test('prints the same checks of payments as payments doctor', async () => {
    const file = join(cli.home, 'variables')
    await writeFile(file, 'FIB_CLIENT_ID=shop\n', { mode: 0o600 })
    const payments = await run(['payments', 'doctor', '--env', file, '--json'])
    const all = await run(['doctor', cli.board, '--payments', '--env', file, '--json'])
    const { findings } = JSON.parse(payments.out) as { findings: Finding[] }
    expect((JSON.parse(all.out) as { findings: Finding[] }).findings).toEqual(
      expect.arrayContaining(findings),
    )
    expect((await run(['doctor', cli.board, '--env', file])).code).toBe(2)
  })

  test('fails without a board or an edge, and for the token of another repository or an expired one', async () => {
    expect((await run(['doctor', join(cli.home, '.edge')])).code).toBe(1)
    const away = await run(
      ['doctor', cli.board, '--json', '--edge', 'http://127.0.0.1:1'],
      cli.env(),
    )
    expect([away.code, checks(away.out).edge]).toEqual([1, 'error'])
    cli.bearer = await token({ repos: ['another'] })
    const other = await run(['doctor', cli.board, '--json'], cli.env())
    expect([other.code, checks(other.out)]).toMatchObject([1, { token: 'error', access: 'error' }])
    cli.bearer = await token({ repos: [REPO], exp: '-1h' })
    const expired = await run(['doctor', cli.board, '--json'], cli.env())
    expect([expired.code, checks(expired.out)]).toMatchObject([1, { token: 'error', edge: 'ok' }])
    const none = await run(['doctor', cli.board, '--json'], { ...cli.env(), SIGNALBOX_TOKEN: '' })
    expect(checks(none.out)).toMatchObject({ token: 'error', edge: 'ok' })
  })

  test.each([
    ['doctor'],
    ['doctor', '--json'],
    ['wait', '--timeout', '1s', '--board', 'none'],
    ['wait', '--timeout', '1s'],
  ])(
    'a board whose names hold escapes and line breaks writes none of them to the terminal: %s',
    async (...argv) => {
      const evil = 'a\u001b[2J\u009b31m\u202eb\nerror  board  forged'
      const tasks = join(cli.board, '.cairn/tasks')
      await writeFile(join(tasks, `${evil}.md`), 'x')
      await writeFile(join(tasks, 'T-9.md'), `---\ntitle: "\u009b31m\u202e${'x'}"\n---\n`)
      const [command = '', ...rest] = argv
      const given = command === 'doctor' ? [command, cli.board, ...rest] : argv
      const { out, err } = await run(given, command === 'doctor' ? cli.env() : {}, {
        cwd: cli.board,
      })
      expect(`${out}${err}`).not.toMatch(/[\p{Cc}\u202e](?<!\n)/u)
      expect(`${out}${err}`).not.toMatch(/^error {2}board {2}forged/m)
      expect(`${out}${err}`).not.toBe('')
    },
  )
})
