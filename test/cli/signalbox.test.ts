import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { decodeJwt, jwtVerify } from 'jose'
import { describe, expect, test } from 'vitest'
import { SECRET, token } from '../support/edge.ts'
import { cli, REPO, useBoardAndEdge } from './board-and-edge.ts'
import { run } from './run.ts'

useBoardAndEdge()

describe('usage', () => {
  test('all missing settings are named in one sentence', async () => {
    const { code, err } = await run(['watch'])
    expect(code).toBe(2)
    expect(err.trim().split('\n')).toHaveLength(1)
    for (const name of ['DIR', '--edge', '--repo', 'SIGNALBOX_TOKEN']) expect(err).toContain(name)
  })

  test('a folder without a board is an error with exit code 2', async () => {
    const empty = join(cli.home, 'empty')
    await mkdir(empty)
    for (const command of ['watch', 'sync']) {
      const { code, err } = await run([command, empty], cli.env())
      expect(code).toBe(2)
      expect(err).toContain('There is no task board in')
    }
  })
})

describe('the output of runs', () => {
  const SECRET_VALUE = 'wJalr/XUtnFEMI7K'
  const runOf = async () => {
    const answer = await cli.get('tasks/T-1/runs')
    return ((await answer.json()) as { runs: Record<string, unknown>[] }).runs[0]
  }
  const currentSeq = async () => {
    const answer = await cli.get('status')
    await answer.body?.cancel()
    return answer.headers.get('X-Signalbox-Seq')
  }
  const writeRun = async (value: string) => {
    await mkdir(join(cli.board, '.cairn/runs'), { recursive: true })
    const lines = [`cmd: API_TOKEN=${value} npm test`, 'cwd: /', 'head: abc']
    const exit = 'exit: 0  timedout: false  duration: 1s'
    const output = `AWS_SECRET_ACCESS_KEY=${value}\nall is well\n`
    const text = [...lines, exit, '----', output].join('\n')
    await writeFile(join(cli.board, '.cairn/runs/T-1-20260101-100000.000.log'), text)
  }

  test('is published without its secrets, and again when one changes', async () => {
    await writeRun(SECRET_VALUE)
    expect((await run(['sync', cli.board], cli.env())).code).toBe(0)
    expect(await runOf()).toMatchObject({
      cmd: 'API_TOKEN=[redacted] npm test',
      output: 'AWS_SECRET_ACCESS_KEY=[redacted]\nall is well\n',
    })
    const seq = await currentSeq()
    await writeRun('another-one')
    expect((await run(['sync', cli.board], cli.env())).code).toBe(0)
    expect(await currentSeq()).not.toBe(seq)
  })

  test('is not published with --run-output none, and removed if it was published before', async () => {
    await writeRun(SECRET_VALUE)
    expect((await run(['sync', cli.board], cli.env())).code).toBe(0)
    expect(await runOf()).toHaveProperty('output')
    expect((await run(['sync', cli.board, '--run-output', 'none'], cli.env())).code).toBe(0)
    const { output, ...rest } = (await runOf()) ?? {}
    expect(output).toBeUndefined()
    expect(rest).toMatchObject({ exit: 0, cmd: 'API_TOKEN=[redacted] npm test' })
    const { code, err } = await run(['sync', cli.board, '--run-output', 'some'], cli.env())
    expect([code, err]).toEqual([2, expect.stringContaining('must be one of masked, none')])
  })
})

describe('token', () => {
  test('is the only text on standard output, with the requested claims', async () => {
    const argv = ['token', '--repo', 'a', '--repo', 'b*', '--scope', 'board:read', '--ttl', '2h']
    const { code, out, err } = await run(argv, { AUTH_SECRETS: `${SECRET} ${'x'.repeat(32)}` })
    expect([code, err]).toEqual([0, ''])
    const { exp, iat, jti, ...claims } = decodeJwt(out.trim())
    expect(claims).toEqual({ aud: 'signalbox', scope: 'board:read', repos: ['a', 'b*'] })
    expect((exp ?? 0) - (iat ?? 0)).toBe(7_200)
    const again = await run(argv, { AUTH_SECRETS: SECRET })
    expect(decodeJwt(again.out.trim()).jti).not.toBe(jti)
  })

  test('has the scopes of each --scope, and of several in one', async () => {
    const scopes = ['--scope', 'board:read', '--scope', 'board:work payments:read']
    const { out } = await run(['token', '--repo', 'a', ...scopes], { AUTH_SECRETS: SECRET })
    const scope = 'board:read board:work payments:read'
    expect(decodeJwt(out.trim())).toMatchObject({ scope })
  })

  test('names who uses it, if --subject says so', async () => {
    const argv = ['token', '--repo', 'a', '--subject', 'the shop']
    const { out } = await run(argv, { AUTH_SECRETS: SECRET })
    expect(decodeJwt(out.trim())).toMatchObject({ sub: 'the shop' })
  })

  test('is an agent’s with --actor: it may claim as that one', async () => {
    const { out } = await run(['token', '--repo', 'a', '--actor', 'ci'], { AUTH_SECRETS: SECRET })
    const claims = { actor: 'ci', scope: 'board:read board:work' }
    expect(decodeJwt(out.trim())).toMatchObject(claims)
  })

  test('is signed by the secret of the signalbox that runs here, for its boards', async () => {
    const dir = await cli.dataFolder(join(cli.board, '.signalbox'), ['a', 'a/*'])
    const verified = async (argv: string[], env = {}, cwd = cli.board) => {
      const { out, err } = await run(['token', '--actor', 'ci', ...argv], env, { cwd })
      expect(err).toBe('')
      return (await jwtVerify(out.trim(), new TextEncoder().encode(SECRET))).payload
    }
    const claims = { actor: 'ci', repos: ['a', 'a/*'], aud: 'signalbox' }
    expect(await verified([])).toMatchObject(claims)
    expect(await verified(['--repo', 'a'])).toMatchObject({ ...claims, repos: ['a'] })
    const AUTH_SECRETS = 'x'.repeat(32)
    expect(await verified(['--data', dir], { AUTH_SECRETS }, cli.home)).toMatchObject(claims)
    await expect(verified([], { AUTH_SECRETS })).rejects.toThrow()
  })

  test('takes the secret from a file, which only its owner may read', async () => {
    const AUTH_SECRETS_FILE = join(cli.home, 'auth-secret')
    await writeFile(AUTH_SECRETS_FILE, `${SECRET}\n`, { mode: 0o600 })
    const argv = ['token', '--repo', REPO]
    const { out } = await run(argv, { AUTH_SECRETS_FILE })
    expect(await jwtVerify(out.trim(), new TextEncoder().encode(SECRET))).toBeTruthy()
    const twice = await run(argv, { AUTH_SECRETS_FILE, AUTH_SECRETS: SECRET })
    expect([twice.code, twice.err]).toEqual([2, expect.stringContaining('keep one')])
    await chmod(AUTH_SECRETS_FILE, 0o644)
    const open = await run(argv, { AUTH_SECRETS_FILE })
    expect([open.code, open.out, open.err]).toEqual([2, '', expect.stringContaining('by others')])
    expect(open.err).not.toContain(SECRET)
  })

  test('uses the secret in the file that --env names, which only its owner may read', async () => {
    const file = join(cli.home, 'variables')
    await writeFile(file, `AUTH_SECRETS=${SECRET}\nAUTH_AUDIENCE=ours\n`, { mode: 0o600 })
    const argv = ['token', '--repo', REPO, '--env', file]
    const { code, out } = await run(argv, { AUTH_SECRETS: 'x'.repeat(32) })
    expect([code, decodeJwt(out.trim()).aud]).toEqual([0, 'ours'])
    expect(await jwtVerify(out.trim(), new TextEncoder().encode(SECRET))).toBeTruthy()
    await chmod(file, 0o644)
    expect(await run(argv)).toEqual({
      code: 2,
      out: '',
      err: expect.stringMatching(
        /^signalbox: --env: the file .* by others \(chmod 6[04]0 .*\)\.\n$/,
      ),
    })
    await chmod(file, 0o600)
    await writeFile(file, '')
    expect((await run(argv, { AUTH_SECRETS: SECRET })).code).toBe(2)
  })

  test('notes that payments: scopes are for the whole deployment', async () => {
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

  test('needs no repository for payments alone', async () => {
    const argv = ['token', '--scope', 'payments:read payments:write']
    const { code, out, err } = await run(argv, { AUTH_SECRETS: SECRET })
    expect([code, err, decodeJwt(out.trim()).repos]).toEqual([0, '', []])
  })

  test('is accepted by the edge', async () => {
    cli.bearer = (await run(['token', '--repo', REPO], { AUTH_SECRETS: SECRET })).out.trim()
    expect((await run(['sync', cli.board], cli.env())).code).toBe(0)
  })

  test('is refused for a short secret, no repository or an unknown scope', async () => {
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
  test('exits with 0 when the edge has everything, and the next time only compares, and says that it ends', async () => {
    const { code, err } = await run(['sync', cli.board], cli.env())
    expect(code).toBe(0)
    expect(JSON.parse(err.trim().split('\n').at(-1) ?? '')).toMatchObject({
      event: 'sync.done',
      tasks: 2,
    })
    expect(await cli.title('T-1')).toBe('One')
    cli.server.posts.length = 0
    expect((await run(['sync', cli.board], cli.env())).code).toBe(0)
    const [synced, listed] = [/sync/, /boards/].map((it) =>
      cli.server.posts.filter((post) => it.test(post)),
    )
    expect(synced).toEqual(['/api/sync root', '/api/sync end'])
    expect(listed).toEqual(['/api/boards', '/api/boards'])
  })

  test('exits with 1 at once when the token is refused, and does not print the token', async () => {
    cli.bearer = await token({ repos: ['another'] })
    const { code, err, out } = await run(['sync', cli.board], cli.env())
    expect(code).toBe(1)
    expect(err).toContain('forbidden')
    expect(err + out).not.toContain(cli.bearer)
  })

  test('exits with 1 when the edge does not answer', async () => {
    const away = { ...cli.env(), SIGNALBOX_EDGE: 'http://127.0.0.1:1' }
    expect((await run(['sync', cli.board, '--timeout', '1s'], away)).code).toBe(1)
  })
})
