// `signalbox deploy` of the installed package: with the real wrangler as far as that goes without an
// account, and with one that only writes down what it is asked for.

import { spawn } from 'node:child_process'
import { cp, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { delimiter, dirname, join, resolve } from 'node:path'
import { jwtVerify } from 'jose'
import { describe, expect, it, vi } from 'vitest'
import manifest from '../../../package.json' with { type: 'json' }
import { run as exec, type InstalledPackage, MACHINE } from '../../support/installed-package.ts'
import { PATIENT } from '../../support/patience.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { wranglerEnv } from '../../support/wrangler-dev.ts'

/** What the fake wrangler saw of one call. */
interface Call {
  args: string[]
  secrets?: Record<string, string>
  mode?: number
}

const FAKE = `#!/usr/bin/env node
const fs = require('node:fs')
const { FAKE_LOG, FAKE_CODE, FAKE_TAG, FAKE_HANGS, WRANGLER_OUTPUT_FILE_PATH } = process.env
const args = process.argv.slice(2)
const call = { args }
const at = args.indexOf('--secrets-file')
if (at !== -1) {
  call.secrets = JSON.parse(fs.readFileSync(args[at + 1], 'utf8'))
  call.mode = fs.statSync(args[at + 1]).mode & 0o777
}
fs.appendFileSync(FAKE_LOG, JSON.stringify(call) + '\\n')
const ID = '01234567-89ab-cdef-0123-456789abcdef'
if (args[0] === 'deployments') {
  if (!FAKE_TAG) process.exit(1)
  console.log(JSON.stringify({ versions: [{ version_id: ID, percentage: 100 }] }))
} else if (args[0] === 'versions') {
  console.log(JSON.stringify({ resources: { script_runtime: { migration_tag: FAKE_TAG } } }))
} else {
  console.log('Uploaded, says the fake')
  const targets = ['https://lamps.ada.workers.dev', 'schedule: * * * * *']
  fs.writeFileSync(WRANGLER_OUTPUT_FILE_PATH, JSON.stringify({ type: 'deploy', targets }) + '\\n')
  if (FAKE_HANGS) setInterval(() => undefined, 1_000)
  else process.exit(Number(FAKE_CODE ?? 0))
}
`

export function packageDeploy(installed: () => InstalledPackage): void {
  describe('signalbox deploy', () => {
    async function place() {
      const home = tempFolder()
      const [cwd, bin] = [join(home, 'project'), join(home, 'bin')]
      for (const dir of [cwd, bin]) await mkdir(dir)
      await writeFile(join(bin, 'wrangler'), FAKE, { mode: 0o755 })
      const log = join(home, 'calls')
      const path = [bin, dirname(process.execPath)].join(delimiter)
      const env = { ...MACHINE, HOME: home, XDG_STATE_HOME: '', PATH: path, FAKE_LOG: log }
      const start = (words: string[], more: Record<string, string> = {}) => {
        const program = join(installed().dir, 'node/signalbox.js')
        const child = spawn(process.execPath, [program, 'deploy', ...words], {
          cwd,
          env: { ...env, ...more },
          stdio: ['ignore', 'pipe', 'pipe'],
        })
        const said = { out: '', err: '' }
        child.stdout.setEncoding('utf8').on('data', (text: string) => {
          said.out += text
        })
        child.stderr.setEncoding('utf8').on('data', (text: string) => {
          said.err += text
        })
        const ended = new Promise<number | null>((done) => child.once('close', done))
        return { child, ended: ended.then((code) => ({ code, ...said })) }
      }
      const calls = async (): Promise<Call[]> =>
        (await readFile(log, 'utf8').catch(() => ''))
          .split('\n')
          .filter(Boolean)
          .map((line) => JSON.parse(line))
      const kept = (name = 'lamps') => join(home, '.local/state/signalbox/edges', name)
      return {
        home,
        cwd,
        kept,
        calls,
        start,
        run: (words: string[], more?: Record<string, string>) => start(words, more).ended,
        file: (path: string) => readFile(join(cwd, 'signalbox-edge', path), 'utf8'),
        uploads: async () => (await calls()).filter(({ args }) => args[0] === 'deploy'),
        /** Besides what stays: none of them may hold a secret. */
        rest: async () => (await readdir(kept())).filter((entry) => entry.startsWith('deploying')),
      }
    }
    const NAMED = ['--name', 'lamps', '--board', 'my team/board']

    it('builds with the real wrangler, which is given all secrets at once, and leaves no file of them', async () => {
      const { run, home, kept, rest } = await place()
      const real = { ...wranglerEnv(home), PATH: `${resolve('node_modules/.bin')}:${MACHINE.PATH}` }
      const database = { LIBSQL_URL: 'libsql://lamps.test', LIBSQL_AUTH_TOKEN: 'database-token' }
      const words = [...NAMED, '--payments', '--dry-run']
      const { code, out, err } = await run(words, { ...real, ...database })
      expect([code, err]).toEqual([0, expect.stringContaining('--dry-run: exiting now.')])
      for (const name of ['REPOSITORY', 'LEDGER', 'SESSIONS', 'DIRECTORY', 'ASSETS']) {
        expect(err).toContain(`env.${name}`)
      }
      for (const name of ['AUTH_SECRETS', 'LIBSQL_URL', 'LIBSQL_AUTH_TOKEN']) {
        expect(err).toContain(`env.${name} ("(hidden)")`)
      }
      expect(out).toContain('It would be at https://lamps.<your-account>.workers.dev')
      const secret = (await readFile(join(kept(), 'auth-secret'), 'utf8')).trim()
      for (const hidden of [secret, 'database-token']) expect(out + err).not.toContain(hidden)
      expect(await rest()).toEqual([])
    })

    it('makes a folder that builds from a copy by itself, as the repository of a template', async () => {
      const { run, home, cwd } = await place()
      await run([...NAMED, '--dry-run'])
      const copy = join(home, 'copy')
      await cp(join(cwd, 'signalbox-edge'), copy, { recursive: true })
      await rm(cwd, { recursive: true })
      const wrangler = resolve('node_modules/.bin/wrangler')
      const { stdout } = await exec(wrangler, ['deploy', '--dry-run'], {
        cwd: copy,
        env: wranglerEnv(home),
      })
      const { cloudflare } = JSON.parse(await readFile(join(copy, 'package.json'), 'utf8'))
      const bindings = Array.from(stdout.matchAll(/^env\.(\w+)/gm), ([, name]) => name)
      expect(bindings).toHaveLength(5)
      for (const name of [...bindings, 'AUTH_SECRETS']) {
        expect(cloudflare.bindings[name ?? '']?.description).toMatch(/\w{3}.*\.$/)
      }
      expect(await readFile(join(copy, '.dev.vars.example'), 'utf8')).toBe('AUTH_SECRETS=\n')
    })

    it('sends code and secrets in one call, then says where the edge and the tokens are', async () => {
      const { run, uploads, kept, rest } = await place()
      const { code, out, err } = await run(NAMED)
      expect([code, err]).toEqual([0, 'Uploaded, says the fake\n'])
      const [upload, another] = await uploads()
      const secret = (await readFile(join(kept(), 'auth-secret'), 'utf8')).trim()
      expect(another).toBeUndefined()
      expect(upload).toMatchObject({ mode: 0o600, secrets: { AUTH_SECRETS: secret } })
      expect(secret).toMatch(/^[0-9a-f]{64}$/)
      // Options show in the list of processes.
      expect(upload?.args.join(' ')).not.toContain(secret)
      expect(await rest()).toEqual([])

      const token = join(kept(), 'sidecar-token')
      expect(out).toContain('The edge is at https://lamps.ada.workers.dev\n')
      const board = "--repo 'my team/board'"
      const line = `signalbox watch . --edge https://lamps.ada.workers.dev ${board}`
      expect(out).toContain(`${line} --token-file ${token}`)
      const jwt = (await readFile(token, 'utf8')).trim()
      const key = new TextEncoder().encode(secret)
      const { payload } = await jwtVerify(jwt, key, { audience: 'signalbox' })
      expect(payload.repos).toEqual(['my team/board', 'my team/board/*', 'my team/board#*'])
      for (const name of ['auth-secret', 'sidecar-token', 'reader-token']) {
        expect((await stat(join(kept(), name))).mode & 0o777).toBe(0o600)
      }
      expect(out + err).not.toContain(jwt)
    })

    it('run again it asks nothing, keeps the secret and what its owner changed', async () => {
      const { run, uploads, cwd, file } = await place()
      await run(NAMED)
      const config = 'export default { payments: {} }\n'
      await writeFile(join(cwd, 'signalbox-edge/signalbox.config.js'), config)
      const toml = `${await file('wrangler.toml')}\n[vars]\nMAX_STREAMS = "500"\n`
      await writeFile(join(cwd, 'signalbox-edge/wrangler.toml'), toml)
      await writeFile(join(cwd, 'signalbox-edge/index.js'), await file('index.js'))
      await rm(join(cwd, 'signalbox-edge/signalbox/worker.js'))

      const again = await run([], { FAKE_TAG: 'edge-1' })
      expect([again.code, again.err]).toEqual([
        0,
        expect.stringContaining('wrangler.toml was changed by hand, and is left as it is.'),
      ])
      expect([await file('signalbox.config.js'), await file('wrangler.toml')]).toEqual([
        config,
        toml,
      ])
      expect((await file('signalbox/worker.js')).length).toBeGreaterThan(100_000)
      await run(['--new-secret'], { FAKE_TAG: 'edge-1' })
      const [first, second, third] = (await uploads()).map(({ secrets }) => secrets?.AUTH_SECRETS)
      expect(second).toBe(first)
      expect(third).not.toBe(first)
    })

    it('sends no secret from a machine that has none, so that Cloudflare keeps its own', async () => {
      const { run, uploads, home } = await place()
      const { code, out } = await run(NAMED, { FAKE_TAG: 'edge-1' })
      expect([code, out]).toEqual([0, expect.stringContaining('Its secret is on another machine')])
      expect((await uploads()).map(({ secrets }) => secrets)).toEqual([undefined])
      const state = join(home, '.local/state/signalbox/edges/lamps')
      expect(await readdir(state)).toEqual([])
    })

    it('refuses a Worker that a clone deployed, and uploads nothing', async () => {
      const { run, uploads } = await place()
      const { code, err } = await run(NAMED, { FAKE_TAG: 'v4' })
      expect([code, err]).toEqual([
        2,
        expect.stringContaining('lamps was not made by signalbox deploy (its objects have the mi'),
      ])
      expect(await uploads()).toEqual([])
    })

    it('leaves no file of secrets when wrangler fails, or is ended in the middle', async () => {
      const { run, start, uploads, rest } = await place()
      const failed = await run(NAMED, { FAKE_CODE: '3' })
      expect([failed.code, failed.err]).toEqual([
        1,
        expect.stringContaining('wrangler failed (exit code 3): see what it says.'),
      ])
      expect(await rest()).toEqual([])
      const { child, ended } = start(NAMED, { FAKE_HANGS: '1' })
      await vi.waitFor(async () => expect(await uploads()).toHaveLength(2), PATIENT)
      child.kill('SIGINT')
      expect(await ended).toMatchObject({ code: 1 })
      expect(await rest()).toEqual([])
    })

    it('without wrangler it prints what npx would download, and downloads nothing unasked', async () => {
      const { run, home } = await place()
      await rm(join(home, 'bin/wrangler'))
      const { code, err } = await run(NAMED)
      const line = `npx --yes wrangler@${manifest.devDependencies.wrangler}`
      expect([code, err]).toEqual([1, expect.stringContaining(line)])
      expect(err).toContain('Nothing was deployed: install wrangler, or say --yes.')
    })

    it('says what is missing or impossible', async () => {
      const { run, calls } = await place()
      for (const [words, why] of [
        [[], 'missing: --name <NAME>; --board <NAME>.'],
        [['--name', 'My Lamps', '--board', 'b'], 'My Lamps is no name of a Worker'],
        [['--name', 'lamps', '--board', 'b*'], '--board: The path ends in *.'],
        [[...NAMED, '--payments'], 'missing: LIBSQL_URL, the database of --payments.'],
      ] as const) {
        const { code, err } = await run([...words])
        expect([code, err]).toEqual([2, expect.stringContaining(why)])
      }
      expect(await calls()).toEqual([])
    })
  })
}
