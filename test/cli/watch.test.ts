import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { freePort } from '../../tools/harness/free-port.ts'
import { WIRE, wireProblem } from '../../worker/board/wire.ts'
import { serveEdge } from '../sidecar/edge-server.ts'
import { swapForLink } from '../sidecar/layouts/store.ts'
import { type Edge, token } from '../support/edge.ts'
import { jsonOf } from '../support/json-of.ts'
import { cli, REPO, until, useBoardAndEdge } from './board-and-edge.ts'
import { run } from './run.ts'

useBoardAndEdge()

/** `watch` with these words, once it is ready. */
async function watching(argv: string[]) {
  const started = cli.start(argv)
  await until(() => expect(started.logs()).toContain('"event":"sidecar.ready"'))
  return started
}

describe('watch', () => {
  test('is ready once, publishes a saved task, and exits with 0 on SIGTERM', async () => {
    const { child, exit, logs } = await watching(['watch', cli.board])
    const ready =
      logs()
        .split('\n')
        .find((line) => line.includes('sidecar.ready')) ?? ''
    expect(JSON.parse(ready)).toMatchObject({ level: 'info', tasks: 2, files: 3 })
    await cli.save('T-1', 'Saved')
    await until(async () => expect(await cli.title('T-1')).toBe('Saved'))
    child.kill('SIGTERM')
    expect(await exit).toBe(0)
    expect(logs()).not.toContain(cli.bearer)
  })

  test('publishes pending changes before it exits', async () => {
    const { child, exit } = await watching(['watch', cli.board])
    await cli.save('T-1', 'Last')
    // The hint may not have arrived yet, and nothing is sent within the window.
    child.kill('SIGTERM')
    expect(await exit).toBe(0)
    expect(await cli.title('T-1')).toBe('Last')
  })

  test('exits after SIGTERM while a folder is swapped for a link all the time', async () => {
    const { child, exit, logs } = await watching(['watch', cli.board])
    const elsewhere = join(cli.home, 'elsewhere')
    await mkdir(elsewhere)
    const stop = await swapForLink(join(cli.board, '.cairn/tasks'), elsewhere)
    await until(() => expect(logs()).toMatch(/"event":"(?:store|watch)\.\w+"/))
    child.kill('SIGTERM')
    const code = await exit
    await stop()
    expect(code).toBe(0)
  })

  test('exits with its parent with --exit-with-parent', async () => {
    const { child, exit } = await watching(['watch', cli.board, '--exit-with-parent'])
    child.stdin?.end()
    expect(await exit).toBe(0)
  })

  test('waits for a board with --wait, and can be ended meanwhile', async () => {
    const idle = cli.start(['watch', join(cli.home, 'never'), '--wait'])
    const later = cli.start(['watch', join(cli.home, 'later'), '--wait'])
    await until(() => expect(idle.logs()).toContain('store.awaited'))
    idle.child.kill('SIGINT')
    expect(await idle.exit).toBe(0)
    await until(() => expect(later.logs()).toContain('store.awaited'))
    cli.board = join(cli.home, 'later')
    await cli.makeBoard()
    await until(async () => expect(await cli.title('T-2')).toBe('Two'))
  })

  test('publishes all boards of several folders, and says which one its token does not cover', async () => {
    await mkdir(join(cli.board, '.kiro/specs/tea'), { recursive: true })
    await writeFile(join(cli.board, '.kiro/specs/tea/tasks.md'), '- [ ] 1. Heat water\n')
    const beside = join(cli.home, 'beside')
    await mkdir(join(beside, 'p/openspec/changes/jam'), { recursive: true })
    await writeFile(join(beside, 'p/openspec/changes/jam/tasks.md'), '- [ ] 1.1 Cook\n')
    cli.bearer = await token({ repos: [REPO, `${REPO}/*`] })
    const { child, exit, logs } = cli.start(['watch', cli.board, beside, '--healthz', '0'])
    await until(() => expect(logs()).toContain('"event":"boards.ready","boards":3,"behind":1'))
    const lines = logs()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>)
    expect(lines.filter(({ event }) => event === 'board.found')).toMatchObject([
      { board: REPO, dir: cli.board, layout: 'cairn' },
      { board: `${REPO}#kiro`, dir: cli.board, layout: 'kiro' },
      { board: `${REPO}/beside/p#openspec`, dir: join(beside, 'p'), layout: 'openspec' },
    ])
    expect(lines.filter(({ level }) => level === 'error')).toMatchObject([
      { event: 'edge.failed', board: `${REPO}#kiro`, why: 'The token is for another repository.' },
    ])
    expect(await cli.title('T-1')).toBe('One')
    const port = /"healthz.listening","port":(\d+)/.exec(logs())?.[1] ?? ''
    const health = await fetch(`http://127.0.0.1:${port}/healthz`)
    expect(health.status).toBe(503)
    const { boards } = (await health.json()) as { boards: { board: string; behind: boolean }[] }
    expect(boards.filter(({ behind }) => behind).map(({ board }) => board)).toEqual([
      `${REPO}#kiro`,
    ])
    child.kill('SIGTERM')
    expect(await exit).toBe(0)
  })

  test('--only narrows the boards and changes no name, and a layout that is none is refused', async () => {
    await mkdir(join(cli.board, '.kiro/specs/tea'), { recursive: true })
    await writeFile(join(cli.board, '.kiro/specs/tea/tasks.md'), '- [ ] 1. Heat water\n')
    cli.bearer = await token({ repos: [`${REPO}#*`] })
    const narrowed = ['watch', cli.board, '--only', 'kiro', '--only', 'bmad']
    const { logs } = cli.start(narrowed)
    await until(() => expect(logs()).toContain('"event":"boards.ready","boards":1'))
    expect(logs()).toContain(`"board":"${REPO}#kiro"`)
    expect(logs()).not.toContain('edge.failed')
    const { code, err } = await run(['watch', cli.board, '--only', 'jira'], cli.env())
    expect(code).toBe(2)
    expect(err).toContain('--only LAYOUT must be one of cairn, backlog-md, task-master, openspec')
  })

  test('survives an edge that goes away', async () => {
    // It comes back there, so meanwhile the system must not give the port to somebody else.
    const port = await freePort()
    const { edge } = cli.server
    await cli.server.close()
    cli.server = await serveEdge(edge, port)
    const { logs } = await watching(['watch', cli.board])
    await cli.server.close()
    await cli.save('T-2', 'Meanwhile')
    await until(() => expect(logs()).toContain('"reason":"network"'))
    cli.server = await serveEdge(edge, port)
    await until(async () => expect(await cli.title('T-2')).toBe('Meanwhile'))
  })

  test('answers /healthz, and fails if the port is taken', async () => {
    const first = cli.start(['watch', cli.board, '--healthz', '0'])
    await until(() => expect(first.logs()).toContain('sidecar.ready'))
    const port = /"healthz.listening","port":(\d+)/.exec(first.logs())?.[1] ?? ''
    const health = await fetch(`http://127.0.0.1:${port}/healthz`)
    expect([health.status, await health.json()]).toMatchObject([200, { files: 3, status: 'ok' }])
    const second = cli.start(['watch', cli.board, '--healthz', port])
    expect(await second.exit).toBe(1)
    expect(second.logs()).toContain('EADDRINUSE')
  })
})

describe('an edge of another version', () => {
  /** An edge that answers as an older or a newer version. */
  const edgeOf = (wire: number): Edge => {
    const { origin, fetch } = cli.server.edge
    const older: Edge['fetch'] = async (path, init) => {
      const answered = await fetch(path, init)
      if (!answered.ok) return answered
      const { wire: _, step, ...answer } = await jsonOf<Record<string, unknown>>(answered, 200)
      const isUnknown = step === 'probe'
      const refusal = { error: 'The body is malformed at step.', code: 'invalid_request' }
      return Response.json(isUnknown ? refusal : { step, ...answer }, {
        status: isUnknown ? 400 : 200,
      })
    }
    const newer: Edge['fetch'] = async () =>
      Response.json({ error: wireProblem(wire, WIRE), code: 'wire_version' }, { status: 409 })
    return { origin, fetch: wire < WIRE ? older : newer }
  }

  test.each([
    ['an older edge', WIRE - 1, 'upgrade the edge.'],
    ['a newer edge', WIRE + 1, 'upgrade the sidecar.'],
  ])(
    '%s: sync, watch, its health and doctor name the side to upgrade',
    async (_, wire, sentence) => {
      const other = await serveEdge(edgeOf(wire))
      const there = { ...cli.env(), SIGNALBOX_EDGE: other.url }
      try {
        const sync = await run(['sync', cli.board], there)
        expect(sync.code).toBe(1)
        expect(sync.err).toContain(sentence)
        const doctor = await run(['doctor', cli.board], there)
        expect(doctor.code).toBe(1)
        expect(doctor.out).toMatch(new RegExp(`^error {2}edge .*${sentence}`, 'm'))

        const watch = cli.start(['watch', cli.board, '--healthz', '0'], {
          SIGNALBOX_EDGE: other.url,
        })
        await until(() => expect(watch.logs()).toContain(sentence))
        expect(watch.logs()).toMatch(/"level":"error","event":"edge.failed","reason":"version"/)
        const port = /"healthz.listening","port":(\d+)/.exec(watch.logs())?.[1]
        const health = await fetch(`http://127.0.0.1:${port}/healthz`)
        expect(health.status).toBe(503)
        expect(await health.json()).toMatchObject({ lastError: expect.stringContaining(sentence) })
        watch.child.kill('SIGTERM')
        expect(await watch.exit).toBe(0)
      } finally {
        await other.close()
      }
    },
  )
})
