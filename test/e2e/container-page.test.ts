// docs/container.md, line by line: what is inside of its commands, as plain processes on a file
// system that is read-only but for the volumes. Docker itself is not there.

import { execFile } from 'node:child_process'
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import manifest from '../../package.json' with { type: 'json' }
import { SIGNALBOX } from '../../tools/harness/config.ts'
import { freePort } from '../../tools/harness/free-port.ts'
import { openSqlite } from '../../worker/shared/sqlite-libsql.ts'
import { PATIENT } from '../support/patience.ts'
import { type Program, startProgram } from '../support/program.ts'
import { noReadOnly, readOnly } from '../support/read-only.ts'
import { tempFolder } from '../support/temp-folder.ts'

const VOLUMES = ['data', 'state', 'backups']
const IN_CONTAINER = 'docker compose '

describe.skipIf(noReadOnly !== '')(`docs/container.md${noReadOnly}`, () => {
  let folder: string
  let env: Record<string, string>
  let url: string
  let remaining: string[]
  let service: Program
  /** The entry point of the service `backup`, with the folders of this run. */
  let backups: string[]

  const here = (text: string) =>
    VOLUMES.reduce((all, name) => all.replaceAll(`/${name}`, join(folder, name)), text)
  const inside = (command: readonly string[]) => {
    const writable = VOLUMES.map((name) => join(folder, name))
    return readOnly(command, { writable, temporary: join(folder, 'tmp') })
  }
  const run = async (command: readonly string[]): Promise<string> => {
    const [program = '', ...argv] = command
    const { stdout } = await promisify(execFile)(program, argv, { cwd: folder, env })
    return stdout
  }
  /** The next line of the page, which begins so; what it runs in a container, if it does. */
  const next = async (start: string): Promise<string> => {
    const line = remaining.shift() ?? 'no line is left'
    expect(line.startsWith(start) ? start : line).toBe(start)
    const [, words] =
      /^(?:exec \S+|run .*--entrypoint (?=signalbox backup))(.*)$/.exec(
        line.startsWith(IN_CONTAINER) ? line.slice(IN_CONTAINER.length) : '',
      ) ?? []
    if (words === undefined) return line
    const command = words.trim().replace(/^signalbox backup (restore)/, 'signalbox $1')
    return await run(inside(['/bin/sh', '-c', here(command)]))
  }

  beforeAll(async () => {
    folder = tempFolder()
    for (const name of [...VOLUMES, 'tmp', 'bin', 'clone']) {
      await mkdir(join(folder, name), { mode: 0o700 })
    }
    const script = `#!/bin/sh\nexec '${process.execPath}' '${SIGNALBOX}' "$@"\n`
    await writeFile(join(folder, 'bin/signalbox'), script, { mode: 0o755 })
    const page = await readFile('docs/container.md', 'utf8')
    remaining = Array.from(page.matchAll(/^```sh\n(.*?)^```$/gms), ([, text = '']) => text).flatMap(
      (text) => text.trim().split('\n'),
    )
    const compose = parse(await readFile('compose.yaml', 'utf8'), { merge: true })
    const dockerfile = (await readFile('Dockerfile', 'utf8')).replaceAll(/\\\n\s*/g, '')
    const [, image = ''] = /^ENV (.*)$/m.exec(dockerfile) ?? []
    const pairs = image.split(' ').map((pair) => pair.split('=') as [string, string])
    const port = String(await freePort())
    url = `http://127.0.0.1:${port}`
    const own = { HOST: '127.0.0.1', PORT: port, HOME: '/nonexistent', TMPDIR: join(folder, 'tmp') }
    const { environment, entrypoint } = compose.services.backup
    env = {
      PATH: [join(folder, 'bin'), dirname(process.execPath), process.env.PATH].join(':'),
      ...Object.fromEntries(pairs.map(([name, value]) => [name, here(value)])),
      ...environment,
      ...own,
      AUTH_SECRETS_FILE: resolve(folder, 'clone', compose.secrets['auth-secret'].file),
      SIGNALBOX_PUBLIC_URL: 'https://signalbox.example',
    }
    backups = entrypoint.map(here)
  })
  afterAll(() => service?.stop())

  const start = async () => {
    service = startProgram(inside(['signalbox', 'serve']), { cwd: folder, env })
    await expect.poll(() => service.output, PATIENT).toContain('"event":"signalbox.ready"')
  }
  const end = async () => expect(await service.stop('SIGTERM')).toEqual({ code: 0, signal: null })

  it('makes the secret outside of the clone, and starts where nothing else can be written', async () => {
    const made = await next('(umask 077')
    await promisify(execFile)('/bin/sh', ['-c', made], { cwd: join(folder, 'clone') })
    expect(await readFile(env.AUTH_SECRETS_FILE ?? '', 'utf8')).toMatch(/^[\da-f]{64}\n$/)
    await next('sudo chown 1000 ../auth-secret')
    await next("echo 'SIGNALBOX_HOST=")
    await next('docker compose up --build')
    await start()
    expect(await (await fetch(`${url}/healthz`)).json()).toEqual({ status: 'ok' })
    expect(service.output).not.toMatch(/No state folder|not guarded|"level":"(warn|error)"/)
    await next('docker compose logs')
  })

  it('signs in, makes a token, and finds nothing wrong', async () => {
    const link = await next('docker compose exec signalbox signalbox sign-in')
    expect(link).toMatch(/^https:\/\/signalbox\.example\/#\/sign-in\/\S+\n$/)
    const token = await next('docker compose exec signalbox signalbox token')
    const headers = { authorization: `Bearer ${token.trim()}` }
    expect((await fetch(`${url}/api/tasks?path=my-team/board`, { headers })).status).toBe(404)
    const checked = await next('docker compose exec signalbox signalbox doctor')
    expect(checked).not.toMatch(/^(warn|error)/m)
  })

  it('makes backups by the service beside it, of which the newest can be restored', async () => {
    const live = openSqlite(join(folder, 'data/node/payments.db'))
    live.all(`INSERT INTO payment_transactions (id, gateway, reference, amount, currency,
      created_at, updated_at) VALUES ('01A', 'bank', 'order-1', 100, 'IQD', 1, 1)`)
    live.close()
    // With its own process numbers, all of which end with the first.
    const alone = ['unshare', '--pid', '--fork', '--kill-child', ...backups]
    const beside = startProgram(inside(alone), { cwd: folder, env })
    await expect.poll(() => beside.output, PATIENT).toContain('Copied 1 payment to')
    await beside.stop('SIGKILL')
    expect(await next('docker compose exec backup signalbox backup')).toContain('Copied 1 payment')
    expect(await next('docker compose exec backup sh -c')).toMatch(/ can be restored: 1 payment /)
    expect(await readdir(join(folder, 'backups'))).toHaveLength(2)
    // The metric reads when the last one was made.
    expect(await readdir(join(folder, 'data'))).toContain('last-backup')
  })

  it('restores the newest into an empty volume', async () => {
    await next('docker compose down')
    await end()
    await next('docker volume rm signalbox_data')
    for (const name of await readdir(join(folder, 'data'))) {
      await rm(join(folder, 'data', name), { recursive: true })
    }
    expect(await next('docker compose run --rm')).toContain('1 payment')
    // Which database it is to be is known apart from it: an empty volume is refused from here on.
    const known = await readdir(join(folder, 'state'), { recursive: true })
    expect(known.filter((name) => name.endsWith('/installation'))).toHaveLength(1)
    await next('docker compose up --detach')
    await start()
    expect(await (await fetch(`${url}/healthz`)).json()).toEqual({ status: 'ok' })
  })

  it('upgrades: a backup, and a start with what is in the volumes', async () => {
    await next('docker compose exec backup signalbox backup')
    await next('git pull')
    await next('docker compose up --build')
    await end()
    await start()
    const { version } = manifest
    expect(await run(inside(['signalbox', '--version']))).toBe(`${version}\n`)
    expect(remaining).toEqual([])
  })
})
