// `npx wrangler dev` on a machine that has only what .dev.vars.example says: its commands are run as
// they stand there.

import { execFile } from 'node:child_process'
import { cp, mkdtemp, readFile, rm, stat, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { type Child, spawnChild } from '../../local/child.ts'

const COPIED = [
  ...['.dev.vars.example', 'package.json', 'tsconfig.json', 'wrangler.toml'],
  ...['signalbox.config.ts', 'worker', 'client', 'console', 'sidecar', 'cli', 'examples'],
]
/** It builds the page and bundles the Worker first. */
const START_WAIT_MS = 90_000

let dir: string
let env: Record<string, string>
let wrangler: Child | undefined

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'signalbox-wrangler-'))
  for (const name of COPIED) await cp(name, join(dir, name), { recursive: true })
  await symlink(resolve('node_modules'), join(dir, 'node_modules'))
  env = {
    PATH: process.env.PATH ?? '',
    HOME: dir,
    CI: 'true',
    // What it would ask the internet for: where this machine stands, whether it is up to date.
    WRANGLER_SEND_METRICS: 'false',
    WRANGLER_HIDE_BANNER: 'true',
    CLOUDFLARE_CF_FETCH_ENABLED: 'false',
  }
})
afterAll(async () => {
  wrangler?.stop()
  await wrangler?.ended
  await rm(dir, { recursive: true, force: true, maxRetries: 5 })
})

/** The indented lines of the comment. */
async function commands(): Promise<string[]> {
  const text = await readFile('.dev.vars.example', 'utf8')
  return [...text.matchAll(/^# {3}(\S.*)$/gm)].map(([, command = '']) => command)
}

const run = async (command: string, more: Record<string, string> = {}): Promise<string> => {
  const options = { cwd: dir, env: { ...env, ...more } }
  return (await promisify(execFile)('/bin/sh', ['-c', command], options)).stdout.trim()
}

async function startWrangler(): Promise<string> {
  const logFile = join(dir, 'wrangler.log')
  const flags = ['--ip=127.0.0.1', '--port=0', '--inspector-port=0']
  const child = spawnChild({
    name: 'wrangler',
    command: '/bin/sh',
    args: ['-c', `cd '${dir}' && exec npx wrangler dev ${flags.join(' ')}`],
    env,
    logFile,
    graceMs: 5_000,
  })
  wrangler = child
  let hasEnded = false
  void child.ended.then(() => {
    hasEnded = true
  })
  let log = ''
  const url = () => /Ready on (http:\/\/127\.0\.0\.1:\d+)/.exec(log)?.[1]
  const isUp = async () => {
    log = await readFile(logFile, 'utf8')
    return url() !== undefined || hasEnded
  }
  await vi.waitUntil(isUp, { timeout: START_WAIT_MS, interval: 50 })
  const found = url()
  if (found === undefined) throw new Error(log)
  return found
}

describe('.dev.vars.example', () => {
  it('holds no secret that somebody could know', async () => {
    const text = await readFile('.dev.vars.example', 'utf8')
    const values = [...text.matchAll(/^(?:# )?([A-Z_]+)=(.*)$/gm)].map(([, name, value]) => [
      name,
      value,
    ])
    expect(values).toContainEqual(['AUTH_SECRETS', ''])
    const given = values.filter(([, value]) => value !== '')
    expect(given).toEqual([['LIBSQL_URL', 'http://127.0.0.1:PORT']])
  })

  it(
    'is all that `npx wrangler dev` needs to be told of a board and to show it',
    async () => {
      const [makeFile = '', makeToken = ''] = await commands()
      await run(makeFile)
      expect((await stat(join(dir, '.dev.vars'))).mode & 0o777).toBe(0o600)
      const token = await run(makeToken)
      const edge = await startWrangler()

      expect((await fetch(`${edge}/api/tasks`)).status).toBe(401)
      const sync = `npx signalbox sync examples/board --edge=${edge} --repo=my-team/board`
      await run(sync, { SIGNALBOX_TOKEN: token })
      const answer = await fetch(`${edge}/api/tasks`, {
        headers: { authorization: `Bearer ${token}` },
      })
      expect(await answer.json()).toMatchObject({ tasks: [{ id: 'LAMP-1' }, ...SIX_MORE] })
      expect(await (await fetch(edge)).text()).toContain('/console/main-')
    },
    START_WAIT_MS + 30_000,
  )
})

const SIX_MORE = Array.from({ length: 6 }, () => ({
  id: expect.stringMatching(/^LAMP-\d$/) as string,
}))
