import { type ChildProcess, spawn } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { decodeJwt, jwtVerify } from 'jose'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { Finding } from '../../cli/findings.ts'
import { writeLocalJson } from '../../local/local-json.ts'
import { WIRE, wireProblem } from '../../worker/board/wire.ts'
import { type EdgeServer, serveEdge } from '../sidecar/edge-server.ts'
import { type Edge, SECRET, token } from '../support/edge.ts'
import { jsonOf } from '../support/json-of.ts'
import { PATIENT } from '../support/patience.ts'
import { programEnv } from '../support/run-caches.ts'
import { run } from './run.ts'

const CLI = join(import.meta.dirname, '../../cli/signalbox.ts')
const REPO = 'cli'

let home: string
let board: string
let server: EdgeServer
let bearer: string
const children: ChildProcess[] = []

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'signalbox-cli-'))
  board = join(home, 'board')
  await makeBoard()
  server = await serveEdge()
  bearer = await token({ repos: [REPO] })
})

afterEach(async () => {
  for (const child of children.splice(0)) {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGKILL')
      await new Promise((resolve) => child.once('exit', resolve))
    }
  }
  await server.close()
  await rm(home, { recursive: true })
})

async function makeBoard(): Promise<void> {
  await mkdir(join(board, '.cairn/tasks'), { recursive: true })
  const config = 'prefix: T\nstates: [open, done]\nclosed: [done]\ninitial: open\n'
  await writeFile(join(board, '.cairn/config.yaml'), config)
  await save('T-1', 'One')
  await save('T-2', 'Two')
}

/** As `signalbox start` leaves it while it runs. */
async function dataFolder(dir = join(home, 'data')): Promise<string> {
  await mkdir(dir)
  await writeFile(join(dir, 'secret'), `${SECRET}\n`)
  await writeLocalJson(dir, {
    ...{ url: server.url, path: REPO, database: server.url, simulator: server.url },
    ...{ databaseToken: 'd', tokens: { board: 'b', sidecar: bearer, payments: 'p' }, gateways: {} },
  })
  return dir
}

const save = (id: string, title: string): Promise<void> =>
  writeFile(join(board, `.cairn/tasks/${id}.md`), `---\ntitle: ${title}\nstatus: open\n---\nbody\n`)

const env = () => ({
  SIGNALBOX_EDGE: server.url,
  SIGNALBOX_REPO: REPO,
  SIGNALBOX_TOKEN: bearer,
  SIGNALBOX_CACHE: join(home, 'cache'),
})

/** A real process; its logs as they come. */
function start(argv: string[], more: Record<string, string> = {}) {
  const child = spawn(process.execPath, [CLI, ...argv], {
    env: { ...programEnv(home), ...env(), ...more },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  children.push(child)
  let logs = ''
  child.stderr.on('data', (chunk: Buffer) => {
    logs += chunk.toString()
  })
  const exit = new Promise<number | null>((resolve) => child.once('close', resolve))
  return { child, exit, logs: () => logs }
}

const until = (check: () => void | Promise<void>): Promise<void> => vi.waitFor(check, PATIENT)

async function title(id: string): Promise<unknown> {
  const answer = await server.edge.fetch(`/api/tasks/${id}?path=${REPO}`, {
    headers: { Authorization: `Bearer ${bearer}` },
  })
  const body = (await answer.json()) as { title?: string; code?: string }
  return body.title ?? body.code
}

const seqNow = async (): Promise<string | null> => {
  const headers = { Authorization: `Bearer ${bearer}` }
  const answer = await server.edge.fetch(`/api/status?path=${REPO}`, { headers })
  await answer.body?.cancel()
  return answer.headers.get('X-Signalbox-Seq')
}

describe('usage', () => {
  test('one sentence names all that is missing', async () => {
    const { code, err } = await run(['watch'])
    expect(code).toBe(2)
    expect(err.trim().split('\n')).toHaveLength(1)
    for (const name of ['DIR', '--edge', '--repo', 'SIGNALBOX_TOKEN']) expect(err).toContain(name)
  })

  test('a folder that holds no board ends with 2 and one sentence', async () => {
    for (const command of ['watch', 'sync']) {
      const { code, err } = await run([command, home], env())
      expect(code).toBe(2)
      expect(err).toContain('There is no task board in')
    }
  })
})

describe('the output of runs', () => {
  const SECRET_VALUE = 'wJalr/XUtnFEMI7K'
  const runOf = async () => {
    const answer = await server.edge.fetch(`/api/tasks/T-1/runs?path=${REPO}`, {
      headers: { Authorization: `Bearer ${bearer}` },
    })
    return ((await answer.json()) as { runs: Record<string, unknown>[] }).runs[0]
  }
  const writeRun = async (value: string) => {
    await mkdir(join(board, '.cairn/runs'), { recursive: true })
    const lines = [`cmd: API_TOKEN=${value} npm test`, 'cwd: /', 'head: abc']
    const exit = 'exit: 0  timedout: false  duration: 1s'
    const output = `AWS_SECRET_ACCESS_KEY=${value}\nall is well\n`
    const text = [...lines, exit, '----', output].join('\n')
    await writeFile(join(board, '.cairn/runs/T-1-20260101-100000.000.log'), text)
  }

  test('leaves this machine without its secrets, and is published anew when one changes', async () => {
    await writeRun(SECRET_VALUE)
    expect((await run(['sync', board], env())).code).toBe(0)
    expect(await runOf()).toMatchObject({
      cmd: 'API_TOKEN=[redacted] npm test',
      output: 'AWS_SECRET_ACCESS_KEY=[redacted]\nall is well\n',
    })
    const seq = await seqNow()
    await writeRun('another-one')
    expect((await run(['sync', board], env())).code).toBe(0)
    expect(await seqNow()).not.toBe(seq)
  })

  test('stays here by --run-output none, also of runs that were published before', async () => {
    await writeRun(SECRET_VALUE)
    expect((await run(['sync', board], env())).code).toBe(0)
    expect(await runOf()).toHaveProperty('output')
    expect((await run(['sync', board, '--run-output', 'none'], env())).code).toBe(0)
    const { output, ...rest } = (await runOf()) ?? {}
    expect(output).toBeUndefined()
    expect(rest).toMatchObject({ exit: 0, cmd: 'API_TOKEN=[redacted] npm test' })
    const { code, err } = await run(['sync', board, '--run-output', 'some'], env())
    expect([code, err]).toEqual([2, expect.stringContaining('must be one of masked, none')])
  })
})

describe('token', () => {
  test('is the only thing on standard output, and says what was asked for', async () => {
    const argv = ['token', '--repo', 'a', '--repo', 'b*', '--scope', 'board:read', '--ttl', '2h']
    const { code, out, err } = await run(argv, { AUTH_SECRETS: `${SECRET} ${'x'.repeat(32)}` })
    expect([code, err]).toEqual([0, ''])
    const { exp, iat, ...claims } = decodeJwt(out.trim())
    expect(claims).toEqual({ aud: 'signalbox', scope: 'board:read', repos: ['a', 'b*'] })
    expect((exp ?? 0) - (iat ?? 0)).toBe(7_200)
  })

  test('takes its secret from the file of variables that --env names', async () => {
    const file = join(home, 'variables')
    await writeFile(file, `AUTH_SECRETS=${SECRET}\nAUTH_AUDIENCE=ours\n`)
    const argv = ['token', '--repo', REPO, '--env', file]
    const { code, out } = await run(argv, { AUTH_SECRETS: 'x'.repeat(32) })
    expect([code, decodeJwt(out.trim()).aud]).toEqual([0, 'ours'])
    expect(await jwtVerify(out.trim(), new TextEncoder().encode(SECRET))).toBeTruthy()
    await writeFile(file, '')
    expect((await run(argv, { AUTH_SECRETS: SECRET })).code).toBe(2)
  })

  test('says that payments: scopes are for the whole deployment, beside the token', async () => {
    const scope = 'board:read payments:read'
    const { code, out, err } = await run(['token', '--repo', 'a', '--scope', scope], {
      AUTH_SECRETS: SECRET,
      AUTH_AUDIENCE: 'ours',
    })
    expect(code).toBe(0)
    expect(decodeJwt(out.trim())).toMatchObject({ aud: 'ours', scope })
    expect(err).toBe(
      'Note: --repo limits board: scopes only; payments: scopes allow all payments.\n',
    )
  })

  test('is taken by the edge', async () => {
    bearer = (await run(['token', '--repo', REPO], { AUTH_SECRETS: SECRET })).out.trim()
    expect((await run(['sync', board], env())).code).toBe(0)
  })

  test('is not minted from a short secret, for no repository, or with an unknown scope', async () => {
    const bad = [
      [['token', '--repo', 'a'], {}],
      [['token', '--repo', 'a'], { AUTH_SECRETS: 'short' }],
      [['token'], { AUTH_SECRETS: SECRET }],
      [['token', '--repo', 'a', '--scope', 'all'], { AUTH_SECRETS: SECRET }],
      [['token', '--repo', 'a', '--ttl', 'ever'], { AUTH_SECRETS: SECRET }],
    ] as const
    for (const [argv, secrets] of bad) {
      const { code, out, err } = await run([...argv], { ...secrets })
      expect([code, out]).toEqual([2, ''])
      expect(err).not.toContain(SECRET)
      if (!('AUTH_SECRETS' in secrets)) expect(err).toContain('openssl rand -hex 32 makes one')
    }
  })
})

describe('sync', () => {
  test('ends with 0 when the edge holds everything, and costs one request the next time', async () => {
    const { code, err } = await run(['sync', board], env())
    expect(code).toBe(0)
    expect(JSON.parse(err.trim().split('\n').at(-1) ?? '')).toMatchObject({
      event: 'sync.done',
      tasks: 2,
    })
    expect(await title('T-1')).toBe('One')
    server.posts.length = 0
    expect((await run(['sync', board], env())).code).toBe(0)
    expect(server.posts).toEqual(['/api/sync root'])
  })

  test('ends with 1 at once when the token is refused, and tells nobody the token', async () => {
    bearer = await token({ repos: ['another'] })
    const { code, err, out } = await run(['sync', board], env())
    expect(code).toBe(1)
    expect(err).toContain('forbidden')
    expect(err + out).not.toContain(bearer)
  })

  test('ends with 1 when the edge stays away', async () => {
    const away = { ...env(), SIGNALBOX_EDGE: 'http://127.0.0.1:1' }
    expect((await run(['sync', board, '--timeout', '1s'], away)).code).toBe(1)
  })
})

describe('doctor', () => {
  const checks = (out: string): Record<string, string> =>
    Object.fromEntries(
      (JSON.parse(out) as { findings: Finding[] }).findings.map(({ about, level }) => [
        about,
        level,
      ]),
    )

  test('finds nothing wrong where nothing is, and publishes nothing', async () => {
    const { code, out } = await run(['doctor', board, '--json'], env())
    expect(code).toBe(0)
    expect(checks(out)).toMatchObject({
      board: 'ok',
      names: 'ok',
      files: 'ok',
      texts: 'ok',
      edge: 'ok',
      clock: 'ok',
    })
    expect(await title('T-1')).toBe('unknown_repository')
  })

  test('names a misnamed and a broken file without failing', async () => {
    await writeFile(join(board, '.cairn/tasks/no id.md'), 'x')
    await writeFile(join(board, '.cairn/tasks/T-3.md'), '---\ntitle: [\n---\n')
    const { code, out } = await run(['doctor', board], env())
    expect(code).toBe(0)
    expect(out).toMatch(/^warn {3}names .*no id\.md/m)
    expect(out).toMatch(/^warn {3}files .*T-3\.md/m)
  })

  test('names what will be cut, what will lose its text, and what comes close to it', async () => {
    const kib = 1024
    const task = (body: string) => `---\ntitle: Long\nstatus: open\n---\n${body}`
    await writeFile(join(board, '.cairn/tasks/T-3.md'), task('x'.repeat(513 * kib)))
    await writeFile(join(board, '.cairn/tasks/T-4.md'), task('x'.repeat(511 * kib)))
    await writeFile(join(board, '.cairn/tasks/T-5.md'), task('\x01'.repeat(500 * kib)))
    await writeFile(join(board, '.cairn/tasks/T-6.md'), task('\x01'.repeat(285 * kib)))
    await mkdir(join(board, '.cairn/runs'))
    const log = 'cmd: x\nexit: 0  timedout: false  duration: 1s\n----\n'
    const name = 'T-1-20260101-100000.000.log'
    await writeFile(join(board, '.cairn/runs', name), `${log}${'o'.repeat(700 * kib)}`)
    const { code, out } = await run(['doctor', board], env())
    expect(code).toBe(0)
    const lines = out.split('\n').filter((line) => line.includes('  texts '))
    expect(lines).toEqual([
      expect.stringMatching(/^warn .*2 texts.*512 KiB.*cut: .*T-3\.md.*T-1-2026\S+\.log[^,]*$/),
      expect.stringMatching(/^warn .*1 records? .*left out: .*T-5\.md[^,]*$/),
      expect.stringMatching(/^warn .*1 records? .*near.*T-6\.md[^,]*$/),
    ])
  })

  test('takes the edge, the repository and the token of a running start from --data', async () => {
    const dir = await dataFolder()
    const { code, out } = await run(['doctor', board, '--json', '--data', dir])
    expect([code, checks(out)]).toMatchObject([0, { edge: 'ok', clock: 'ok' }])
    const both = await run(['doctor', board, '--data', dir, '--edge', server.url])
    expect([both.code, both.err]).toEqual([2, expect.stringContaining('give one of them')])
  })

  test('finds the board above, and the system that runs in its project, which it names first', async () => {
    const deep = join(board, 'src/deep')
    await mkdir(deep, { recursive: true })
    const alone = await run(['doctor'], {}, { cwd: deep })
    expect([alone.code, alone.out]).toEqual([0, expect.stringContaining('name one with --edge')])
    expect(alone.out).toMatch(/^ok +board .*: 2 tasks, 1 configuration\.$/m)
    await dataFolder(join(board, '.signalbox'))
    for (const [argv, cwd] of [
      [['doctor'], deep],
      [['doctor', board], '/'],
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
    const other = await run(['doctor', '--edge', 'http://127.0.0.1:1'], env(), { cwd: deep })
    expect([other.code, other.out]).toEqual([1, expect.not.stringContaining('system')])
  })

  test('says nothing about the edge where there is no board', async () => {
    for (const argv of [['doctor'], ['doctor', home]]) {
      const { code, out } = await run(argv, {}, { cwd: home })
      expect([code, out]).toEqual([1, expect.stringMatching(/^error +board .*no task board.*\n$/)])
    }
  })

  test('goes on with the checks of payments when it is asked to, and never without', async () => {
    const all = await run(['doctor', board, '--payments', '--json'])
    expect([all.code, checks(all.out)]).toMatchObject([1, { board: 'ok', config: 'error' }])
    const boardOnly = await run(['doctor', board, '--json'])
    expect([boardOnly.code, checks(boardOnly.out).config]).toEqual([0, undefined])
  })

  test('prints the checks of payments exactly as payments doctor does', async () => {
    const file = join(home, 'variables')
    await writeFile(file, 'FIB_CLIENT_ID=shop\n')
    const payments = await run(['payments', 'doctor', '--env', file, '--json'])
    const all = await run(['doctor', board, '--payments', '--env', file, '--json'])
    const { findings } = JSON.parse(payments.out) as { findings: Finding[] }
    expect((JSON.parse(all.out) as { findings: Finding[] }).findings).toEqual(
      expect.arrayContaining(findings),
    )
    expect((await run(['doctor', board, '--env', file])).code).toBe(2)
  })

  test('fails for no board, no edge, a token for another repository and an expired one', async () => {
    expect((await run(['doctor', home])).code).toBe(1)
    const away = await run(['doctor', board, '--json', '--edge', 'http://127.0.0.1:1'], env())
    expect([away.code, checks(away.out).edge]).toEqual([1, 'error'])
    bearer = await token({ repos: ['another'] })
    const other = await run(['doctor', board, '--json'], env())
    expect([other.code, checks(other.out)]).toMatchObject([1, { token: 'error', access: 'error' }])
    bearer = await token({ repos: [REPO], exp: '-1h' })
    const expired = await run(['doctor', board, '--json'], env())
    expect([expired.code, checks(expired.out)]).toMatchObject([1, { token: 'error', edge: 'ok' }])
    const none = await run(['doctor', board, '--json'], { ...env(), SIGNALBOX_TOKEN: '' })
    expect(checks(none.out)).toMatchObject({ token: 'error', edge: 'ok' })
  })
})

describe('an edge of another version', () => {
  /** The edge of this version, as those before and after it would answer. */
  const edgeOf = (wire: number): Edge => {
    const { origin, fetch } = server.edge
    const older: Edge['fetch'] = async (path, init) => {
      const {
        wire: _,
        step,
        ...answer
      } = await jsonOf<Record<string, unknown>>(await fetch(path, init), 200)
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
  ])('%s: sync, watch, its health and doctor say which side to upgrade', async (_, wire, said) => {
    const other = await serveEdge(edgeOf(wire))
    const there = { ...env(), SIGNALBOX_EDGE: other.url }
    try {
      const sync = await run(['sync', board], there)
      expect(sync.code).toBe(1)
      expect(sync.err).toContain(said)
      const doctor = await run(['doctor', board], there)
      expect(doctor.code).toBe(1)
      expect(doctor.out).toMatch(new RegExp(`^error {2}edge .*${said}`, 'm'))

      const watch = start(['watch', board, '--healthz', '0'], { SIGNALBOX_EDGE: other.url })
      await until(() => expect(watch.logs()).toContain(said))
      expect(watch.logs()).toMatch(/"level":"error","event":"edge.failed","reason":"version"/)
      const port = /"healthz.listening","port":(\d+)/.exec(watch.logs())?.[1]
      const health = await fetch(`http://127.0.0.1:${port}/healthz`)
      expect(health.status).toBe(503)
      expect(await health.json()).toMatchObject({ lastError: expect.stringContaining(said) })
      watch.child.kill('SIGTERM')
      expect(await watch.exit).toBe(0)
    } finally {
      await other.close()
    }
  })
})

describe('watch', () => {
  test('is ready once, tells a save, and ends with 0 on SIGTERM', async () => {
    const { child, exit, logs } = start(['watch', board])
    await until(() => expect(logs()).toContain('"event":"sidecar.ready"'))
    const ready =
      logs()
        .split('\n')
        .find((line) => line.includes('sidecar.ready')) ?? ''
    expect(JSON.parse(ready)).toMatchObject({ level: 'info', tasks: 2, files: 3 })
    await save('T-1', 'Saved')
    await until(async () => expect(await title('T-1')).toBe('Saved'))
    child.kill('SIGTERM')
    expect(await exit).toBe(0)
    expect(logs()).not.toContain(bearer)
  })

  test('publishes what is pending before it ends', async () => {
    const { child, exit, logs } = start(['watch', board])
    await until(() => expect(logs()).toContain('"event":"sidecar.ready"'))
    await save('T-1', 'Last')
    // A hint may still be on its way, and nothing is sent within the window.
    child.kill('SIGTERM')
    expect(await exit).toBe(0)
    expect(await title('T-1')).toBe('Last')
  })

  test('ends with its parent when told to', async () => {
    const { child, exit, logs } = start(['watch', board, '--exit-with-parent'])
    await until(() => expect(logs()).toContain('"event":"sidecar.ready"'))
    child.stdin?.end()
    expect(await exit).toBe(0)
  })

  test('waits for a board that is not there yet, and can be ended meanwhile', async () => {
    const idle = start(['watch', join(home, 'never'), '--wait'])
    const later = start(['watch', join(home, 'later'), '--wait'])
    await until(() => expect(idle.logs()).toContain('store.awaited'))
    idle.child.kill('SIGINT')
    expect(await idle.exit).toBe(0)
    await until(() => expect(later.logs()).toContain('store.awaited'))
    board = join(home, 'later')
    await makeBoard()
    await until(async () => expect(await title('T-2')).toBe('Two'))
  })

  test('outlives an edge that goes away', async () => {
    const { logs } = start(['watch', board])
    await until(() => expect(logs()).toContain('"event":"sidecar.ready"'))
    const port = Number(new URL(server.url).port)
    const { edge } = server
    await server.close()
    await save('T-2', 'Meanwhile')
    await until(() => expect(logs()).toContain('"reason":"network"'))
    server = await serveEdge(edge, port)
    await until(async () => expect(await title('T-2')).toBe('Meanwhile'))
  })

  test('answers /healthz, and says so when the port is taken', async () => {
    const first = start(['watch', board, '--healthz', '0'])
    await until(() => expect(first.logs()).toContain('sidecar.ready'))
    const port = /"healthz.listening","port":(\d+)/.exec(first.logs())?.[1] ?? ''
    const health = await fetch(`http://127.0.0.1:${port}/healthz`)
    expect([health.status, await health.json()]).toMatchObject([200, { files: 3, status: 'ok' }])
    const second = start(['watch', board, '--healthz', port])
    expect(await second.exit).toBe(2)
    expect(second.logs()).toContain('EADDRINUSE')
  })
})
