// The package as an operator gets it: built, packed, installed in an empty folder, run by npx on the
// Node that the machine brings, which may be older than the one in node_modules/.bin.

import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { serveEdge } from '../sidecar/edge-server.ts'
import { token } from '../support/edge.ts'
import { PATIENT } from '../support/patience.ts'

const run = promisify(execFile)
const ROOT = join(import.meta.dirname, '../..')
const PACKAGE = join(ROOT, 'dist/signalbox-sidecar')
const INSTALL_MS = 300_000

const env: NodeJS.ProcessEnv = {
  // npm puts node_modules/.bin in front, with its own Node; npm_* variables would configure ours.
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('npm_'))),
  PATH: (process.env.PATH ?? '')
    .split(delimiter)
    .filter((folder) => !folder.includes('node_modules'))
    .join(delimiter),
}

let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'signalbox-package-'))
  await run(process.execPath, [join(ROOT, 'cli/build.ts')])
  await run('npm', ['pack', '--pack-destination', folder], { cwd: PACKAGE, env })
  const tarball = (await readdir(folder)).find((name) => name.endsWith('.tgz')) ?? ''
  await writeFile(join(folder, 'package.json'), '{"private":true}')
  const quiet = ['--prefer-offline', '--no-audit', '--no-fund', '--ignore-scripts']
  await run('npm', ['install', ...quiet, join(folder, tarball)], { cwd: folder, env })
}, INSTALL_MS)

afterAll(() => rm(folder, { recursive: true, force: true }))

const sidecar = (...args: string[]) =>
  run('npx', ['--no-install', 'signalbox', ...args], { cwd: folder, env })

test('says its version, which is that of the repository', async () => {
  const manifest = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as {
    version: string
  }
  expect((await sidecar('--version')).stdout).toBe(`${manifest.version}\n`)
})

test('lists its four commands, and says of any other that it needs a checkout', async () => {
  const { stdout } = await sidecar('--help')
  for (const command of ['watch', 'sync', 'token', 'doctor']) {
    expect(stdout).toMatch(new RegExp(`^ +${command}  `, 'm'))
  }
  expect(stdout).not.toMatch(/^ +start {2}/m)
  await expect(sidecar('start')).rejects.toMatchObject({
    code: 2,
    stderr: expect.stringContaining('start needs a checkout of Signalbox') as string,
  })
})

test('finds a board', async () => {
  const store = join(folder, 'board/.cairn')
  await mkdir(join(store, 'tasks'), { recursive: true })
  await writeFile(join(store, 'config.yaml'), 'prefix: T\nstates: [open]\nclosed: []\n')
  await writeFile(join(store, 'tasks/T-1.md'), '---\ntitle: One\nstatus: open\n---\n')
  const { stdout } = await sidecar('doctor', 'board')
  expect(stdout).toMatch(/^ok {5}board .*1 task/m)
})

test('publishes a board, on the Node that the machine brings', async () => {
  const edge = await serveEdge()
  const SIGNALBOX_TOKEN = await token({ repos: ['packed'] })
  const args = ['sync', 'board', '--edge', edge.url, '--repo', 'packed', '--cache', 'cache']
  await run('npx', ['--no-install', 'signalbox', ...args], {
    cwd: folder,
    env: { ...env, SIGNALBOX_TOKEN },
  })
  const answer = await fetch(`${edge.url}/api/tasks`, {
    headers: { Authorization: `Bearer ${SIGNALBOX_TOKEN}` },
  })
  expect(await answer.json()).toMatchObject({ tasks: [{ id: 'T-1', title: 'One' }] })
  await edge.close()
})

test('watches a board and says how it is, on the Node that the machine brings', async () => {
  const edge = await serveEdge()
  const SIGNALBOX_TOKEN = await token({ repos: ['watched'] })
  const args = ['watch', 'board', '--edge', edge.url, '--repo', 'watched', '--healthz', '0']
  const watch = spawn(join(folder, 'node_modules/.bin/signalbox'), args, {
    cwd: folder,
    env: { ...env, SIGNALBOX_TOKEN, SIGNALBOX_CACHE: join(folder, 'cache') },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const ended = once(watch, 'close')
  let logs = ''
  watch.stderr.setEncoding('utf8').on('data', (text: string) => {
    logs += text
  })
  try {
    await vi.waitFor(() => expect(logs).toContain('"event":"sidecar.ready"'), PATIENT)
    const port = /"healthz.listening","port":(\d+)/.exec(logs)?.[1]
    const health = await fetch(`http://127.0.0.1:${port}/healthz`)
    expect([health.status, await health.json()]).toMatchObject([200, { status: 'ok' }])
  } finally {
    watch.kill('SIGTERM')
    await ended
    await edge.close()
  }
  expect(watch.exitCode).toBe(0)
})

test('mints a token, and refuses a sync that names no edge', async () => {
  const secret = { ...env, AUTH_SECRETS: 'x'.repeat(32), SIGNALBOX_TOKEN: '' }
  const args = ['--no-install', 'signalbox', 'token', '--repo', 'a']
  const { stdout } = await run('npx', args, { cwd: folder, env: secret })
  expect(stdout).toMatch(/^eyJ[\w-]+\.[\w-]+\.[\w-]+\n$/)
  await expect(sidecar('sync', 'board')).rejects.toMatchObject({ code: 2 })
})

test('holds one bundle with exact dependencies, and none of the sources or the tests', async () => {
  const inside = await readdir(join(folder, 'node_modules/signalbox-sidecar'))
  expect(inside.sort()).toEqual(['LICENSE', 'README.md', 'cli.js', 'package.json'])
  const text = await readFile(join(folder, 'node_modules/signalbox-sidecar/package.json'), 'utf8')
  const { dependencies } = JSON.parse(text) as { dependencies: Record<string, string> }
  for (const version of Object.values(dependencies)) expect(version).toMatch(/^\d+\.\d+\.\d+$/)
})
