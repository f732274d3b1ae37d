// `signalbox deploy` with the files of the installed package: with the real wrangler as far as that
// goes without an account, and with one that only writes down what it is asked for. Two tests and a
// signal show that the installed program does so; the rest runs the command in this process.

import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  cp,
  link,
  mkdir,
  readdir,
  readFile,
  readlink,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { devNull } from 'node:os'
import { delimiter, dirname, join, resolve } from 'node:path'
import { jwtVerify } from 'jose'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { edition } from '#edition'
import manifest from '../../../package.json' with { type: 'json' }
import { run as runHere } from '../../cli/run.ts'
import { run as exec, type InstalledPackage, MACHINE } from '../../support/installed-package.ts'
import { PATIENT } from '../../support/patience.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { wranglerEnv } from '../../support/wrangler-dev.ts'

/** What the fake wrangler saw of one call. */
interface Call {
  args: string[]
  /** Where it was started. */
  cwd: string
  secrets?: Record<string, string>
  mode?: number
  /** The file of the folder in which it was called. */
  config?: string
}

const FAKE = `#!/usr/bin/env node
const fs = require('node:fs')
const { FAKE_LOG, FAKE_CODE, FAKE_TAG, FAKE_NAMES, FAKE_STATUS, FAKE_HANGS } = process.env
const { FAKE_SAYS, WRANGLER_OUTPUT_FILE_PATH } = process.env
const args = process.argv.slice(2)
const call = { args, cwd: process.cwd() }
process.chdir(args[args.indexOf('--cwd') + 1])
if (fs.existsSync('signalbox.config.js')) call.config = fs.readFileSync('signalbox.config.js', 'utf8')
const at = args.indexOf('--secrets-file')
if (at !== -1) {
  call.secrets = JSON.parse(fs.readFileSync(args[at + 1], 'utf8'))
  call.mode = fs.statSync(args[at + 1]).mode & 0o777
}
fs.appendFileSync(FAKE_LOG, JSON.stringify(call) + '\\n')
const ID = '01234567-89ab-cdef-0123-456789abcdef'
if (args[0] === 'deployments') {
  if (FAKE_STATUS || !FAKE_TAG) {
    console.error(FAKE_STATUS ?? 'This Worker does not exist on your account. [code: 10007]')
    process.exit(1)
  }
  console.log(JSON.stringify({ versions: [{ version_id: ID, percentage: 100 }] }))
} else if (args[0] === 'versions') {
  const bindings = (FAKE_NAMES ?? '').split(' ').map((name) => ({ name, type: 'secret_text' }))
  const runtime = FAKE_TAG === 'none' ? {} : { migration_tag: FAKE_TAG }
  console.log(JSON.stringify({ resources: { bindings, script_runtime: runtime } }))
} else {
  if (FAKE_SAYS) console.log(FAKE_SAYS)
  const targets = ['https://lamps.ada.workers.dev', 'schedule: * * * * *']
  fs.writeFileSync(WRANGLER_OUTPUT_FILE_PATH, JSON.stringify({ type: 'deploy', targets }) + '\\n')
  const { ppid } = process
  if (FAKE_HANGS) setInterval(() => process.ppid === ppid || process.exit(), 100)
  else process.exit(Number(FAKE_CODE ?? 0))
}
`

/** Path → text, or where a link leads; of all but what is named. */
async function allFiles(
  dir: string,
  leftOut: readonly string[] = [],
): Promise<Map<string, string>> {
  const entries = await readdir(dir, { recursive: true, withFileTypes: true })
  const files = new Map<string, string>()
  for (const entry of entries) {
    const path = join(entry.parentPath, entry.name)
    const name = path.slice(dir.length + 1)
    if (entry.isDirectory() || leftOut.includes(name)) continue
    files.set(name, entry.isFile() ? await readFile(path, 'latin1') : await readlink(path))
  }
  return files
}

export function packageDeploy(installed: () => InstalledPackage): void {
  describe('signalbox deploy', () => {
    beforeAll(() => {
      edition.packageDir = installed().dir
    })
    afterAll(() => {
      delete edition.packageDir
    })

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
          env: { ...env, FAKE_SAYS: 'Uploaded, says the fake', ...more },
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
        run: (words: string[], more?: Record<string, string>) =>
          runHere(['deploy', ...words], { ...env, ...more }, { cwd }),
        file: (path: string) => readFile(join(cwd, 'signalbox-edge', path), 'utf8'),
        uploads: async () => (await calls()).filter(({ args }) => args[0] === 'deploy'),
        /** Besides what stays: none of them may hold a secret. */
        rest: async () => (await readdir(kept())).filter((entry) => entry.startsWith('deploying')),
      }
    }
    const NAMED = ['--name', 'lamps', '--board', 'my team/board', '--yes']

    it('builds with the real wrangler in a temporary folder, with all secrets, and leaves nothing', async () => {
      const { start, home, cwd } = await place()
      const real = { ...wranglerEnv(home), PATH: `${resolve('node_modules/.bin')}:${MACHINE.PATH}` }
      const database = { LIBSQL_URL: 'libsql://lamps.test', LIBSQL_AUTH_TOKEN: 'database-token' }
      const temporary = join(home, 'temporary')
      await mkdir(temporary)
      const words = [...NAMED, '--payments', '--dry-run']
      const before = await allFiles(home)
      const more = { ...real, ...database, TMPDIR: temporary }
      const { code, out, err } = await start(words, more).ended
      expect([code, err]).toEqual([0, expect.stringContaining('--dry-run: exiting now.')])
      for (const name of ['REPOSITORY', 'LEDGER', 'SESSIONS', 'DIRECTORY', 'ASSETS']) {
        expect(err).toContain(`env.${name}`)
      }
      const names = ['AUTH_SECRETS', 'NOTICE_SECRET', 'LIBSQL_URL', 'LIBSQL_AUTH_TOKEN']
      for (const name of names) {
        expect(err).toContain(`env.${name} ("(hidden)")`)
      }
      expect(out).toBe('It would be at https://lamps.<your-account>.workers.dev\n')
      expect(out + err).not.toContain('database-token')
      const isWranglers = (name: string) => /(^|\/)(\.wrangler|\.config|\.cache)\//.test(name)
      const left = [...(await allFiles(home)).keys()].filter((name) => !before.has(name))
      expect(left.filter((name) => !isWranglers(name))).toEqual([])
      expect(await readdir(cwd)).toEqual([])
    })

    it('changes nothing that is kept in a dry run, and builds what its owner wrote', async () => {
      const { run, calls, home, cwd } = await place()
      await run(NAMED)
      const config = 'export default { payments: {} }\n'
      await writeFile(join(cwd, 'signalbox-edge/signalbox.config.js'), config)
      const before = await allFiles(home, ['calls'])
      const words = ['--dry-run', '--new-secret', '--payments', '--yes']
      const { code, err } = await run(words, { LIBSQL_URL: 'libsql://lamps.test' })
      expect([code, err]).toEqual([0, ''])
      expect(await allFiles(home, ['calls'])).toEqual(before)
      const [, , dry, another] = await calls()
      expect([dry?.args, dry?.config, another]).toEqual([
        expect.arrayContaining(['deploy', '--dry-run', '--name', 'lamps']),
        config,
        undefined,
      ])
    })

    it('makes a folder that builds from a copy by itself, as the repository of a template', async () => {
      const { run, home, cwd } = await place()
      await run(NAMED)
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
      const { start, uploads, kept, rest, cwd, home } = await place()
      const { code, out, err } = await start(NAMED).ended
      expect([code, err]).toEqual([0, expect.stringMatching(/Uploaded, says the fake\n$/)])
      expect(err).toContain(`Worker         lamps: is new
signalbox: Folder         ${join(cwd, 'signalbox-edge')}
signalbox: Configuration  signalbox.config.js
signalbox: wrangler       ${join(home, 'bin/wrangler')}
signalbox: Secrets        AUTH_SECRETS, NOTICE_SECRET
`)
      const [upload, another] = await uploads()
      const secret = (await readFile(join(kept(), 'auth-secret'), 'utf8')).trim()
      expect(another).toBeUndefined()
      const notices = (await readFile(join(kept(), 'notice-secret'), 'utf8')).trim()
      const sent = { AUTH_SECRETS: secret, NOTICE_SECRET: notices }
      expect(upload).toMatchObject({ mode: 0o600, secrets: sent })
      expect(out).toContain(`Signs notices         ${join(kept(), 'notice-secret')}\n`)
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
      for (const name of ['auth-secret', 'notice-secret', 'sidecar-token', 'reader-token']) {
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

      const again = await run(['--yes'], { FAKE_TAG: 'edge-1' })
      expect([again.code, again.err]).toEqual([
        0,
        expect.stringContaining('wrangler.toml was changed by hand, and is left as it is.'),
      ])
      expect([await file('signalbox.config.js'), await file('wrangler.toml')]).toEqual([
        config,
        toml,
      ])
      expect((await file('signalbox/worker.js')).length).toBeGreaterThan(100_000)
      await run(['--new-secret', '--yes'], { FAKE_TAG: 'edge-1' })
      const [first, second, third] = (await uploads()).map(({ secrets }) => secrets?.AUTH_SECRETS)
      expect(second).toBe(first)
      expect(third).not.toBe(first)
    })

    it('killed as it sends a new secret, it keeps that and the one before, and sends the new one again', async () => {
      const { run, start, uploads, kept } = await place()
      const there = { FAKE_TAG: 'edge-1' }
      const file = (name: string) => readFile(join(kept(), name), 'utf8').then((it) => it.trim())
      await run(NAMED)
      const old = await file('auth-secret')
      const { child, ended } = start([...NAMED, '--new-secret'], { ...there, FAKE_HANGS: '1' })
      await vi.waitFor(async () => expect(await uploads()).toHaveLength(2), PATIENT)
      child.kill('SIGKILL')
      await ended
      const sent = async () => (await uploads()).at(-1)?.secrets?.AUTH_SECRETS
      const made = await sent()
      expect(made).not.toBe(old)
      const both = [await file('auth-secret'), await file('new-auth-secret')]
      expect(both).toEqual([old, made])
      // Nor does one that fails lose what the Worker may have.
      const failed = await run(['--new-secret', '--yes'], { ...there, FAKE_CODE: '3' })
      expect([failed.code, await sent(), await file('auth-secret')]).toEqual([1, made, old])
      const { code, err } = await run(['--yes'], there)
      expect([code, err]).toEqual([0, expect.stringContaining('AUTH_SECRETS (all tokens end)')])
      expect([await sent(), await file('auth-secret')]).toEqual([made, made])
      expect(await readdir(kept())).not.toContain('new-auth-secret')
    })

    it('sends no secret from a machine that has none, so that Cloudflare keeps its own', async () => {
      const { run, uploads, home } = await place()
      const { code, out } = await run(NAMED, { FAKE_TAG: 'edge-1' })
      expect([code, out]).toEqual([0, expect.stringContaining('Its secret is on another machine')])
      expect((await uploads()).map(({ secrets }) => secrets)).toEqual([undefined])
      const state = join(home, '.local/state/signalbox/edges/lamps')
      expect(await readdir(state)).toEqual([])
    })

    it.each([
      ['none', 'it has no objects'],
      ['v4', 'its objects have the migration v4, not edge-1'],
    ])('refuses a Worker of the account that it did not make (%s)', async (tag, why) => {
      const { run, uploads, kept } = await place()
      const { code, err } = await run(NAMED, { FAKE_TAG: tag })
      expect([code, err]).toEqual([2, expect.stringContaining(`signalbox deploy (${why})`)])
      expect([await uploads(), await readdir(kept())]).toEqual([[], []])
    })

    it('stops where wrangler cannot say whether there is such a Worker', async () => {
      const { run, uploads, kept } = await place()
      const { code, err } = await run(NAMED, { FAKE_STATUS: 'You are not authenticated.' })
      expect([code, err]).toEqual([1, expect.stringContaining('lamps is not known')])
      expect(err).toContain('You are not authenticated.\n')
      expect([await uploads(), await readdir(kept())]).toEqual([[], []])
    })

    it('uploads nothing unasked, and says before what would go where', async () => {
      const { run, uploads, kept } = await place()
      const { code, err } = await run(NAMED.slice(0, -1))
      expect([code, err]).toEqual([
        1,
        expect.stringMatching(/Nothing was deployed: give --yes\.\n$/),
      ])
      expect(err).toContain('Secrets        AUTH_SECRETS, NOTICE_SECRET\n')
      expect([await uploads(), await readdir(kept())]).toEqual([[], []])
    })

    it('refuses payments without a database that the Worker really has, later, too', async () => {
      const { run, uploads } = await place()
      const url = { LIBSQL_URL: 'libsql://lamps.test' }
      expect(await run([...NAMED, '--payments'], url)).toMatchObject({ code: 0 })
      const gone = await run(['--yes'], { FAKE_TAG: 'edge-1', FAKE_NAMES: 'AUTH_SECRETS' })
      expect([gone.code, gone.err]).toEqual([2, expect.stringContaining('missing: LIBSQL_URL')])
      const there = { FAKE_TAG: 'edge-1', FAKE_NAMES: 'AUTH_SECRETS LIBSQL_URL' }
      expect(await run(['--yes'], there)).toMatchObject({ code: 0 })
      const sent = (await uploads()).map(({ secrets }) => Object.keys(secrets ?? {}))
      const [own, database] = [['AUTH_SECRETS', 'NOTICE_SECRET'], ['LIBSQL_URL']]
      expect(sent).toEqual([[...database, ...own], own])
    })

    it('refuses a wrangler.toml of another Worker, and names the one it deploys to wrangler', async () => {
      const { run, uploads, cwd, file } = await place()
      await run(NAMED)
      const toml = (await file('wrangler.toml')).replace('name = "lamps"', 'name = "heaters"')
      await writeFile(join(cwd, 'signalbox-edge/wrangler.toml'), toml)
      const { code, err } = await run(['--yes'], { FAKE_TAG: 'edge-1' })
      expect([code, err]).toEqual([
        2,
        expect.stringContaining('wrangler.toml has the name "heaters", and not lamps'),
      ])
      const [upload, another] = await uploads()
      expect(upload?.args.slice(0, 3)).toEqual(['deploy', '--name', 'lamps'])
      expect(another).toBeUndefined()
    })

    describe('in a repository of others', () => {
      /** As somebody commits it who knows how a deployment works. */
      const record = { name: 'lamps', board: 'theirs', payments: false, version: '0', files: {} }
      const theirs = {
        'signalbox.json': JSON.stringify(record),
        'signalbox.config.js': 'export default { theirs: true }\n',
        'signalbox/worker.js': 'theirs\n',
        'signalbox/notes.txt': 'Not from the package.\n',
      }

      async function theirPlace() {
        const own = await place()
        const dir = join(own.cwd, 'signalbox-edge')
        for (const [name, text] of Object.entries(theirs)) {
          await mkdir(dirname(join(dir, name)), { recursive: true })
          await writeFile(join(dir, name), text)
        }
        return { ...own, dir }
      }

      it.each([[['--yes']], [[...NAMED]], [[...NAMED, '--dry-run']]])(
        'takes over no folder unasked (%s)',
        async (words) => {
          const { run, calls, home } = await theirPlace()
          const before = await allFiles(home)
          const { code, err } = await run(words, { FAKE_TAG: 'edge-1' })
          expect([code, err]).toEqual([
            2,
            expect.stringContaining(
              'was not made by a run of yours, and what is in it would go up',
            ),
          ])
          expect([await allFiles(home), await calls()]).toEqual([before, []])
        },
      )

      it('adopts one by its name alone, replaces the copy of the package, and says whose files go up', async () => {
        const { run, dir, calls } = await theirPlace()
        const nameless = await run(['--adopt', '--yes'])
        expect([nameless.code, nameless.err]).toEqual([
          2,
          expect.stringContaining('missing: --name <NAME>; --board <NAME>.'),
        ])
        const { code, err } = await run([...NAMED, '--adopt'])
        expect([code, err]).toEqual([0, expect.stringContaining(`${dir}: not made by a run of`)])
        expect(err).toContain('signalbox.config.js: not as this command writes it')
        expect(err).toContain('signalbox/notes.txt is not of the package, and would go up with it')
        const text = (name: string) => readFile(join(dir, name), 'utf8')
        expect(await text('signalbox.config.js')).toBe(theirs['signalbox.config.js'])
        expect(await text('signalbox/notes.txt')).toBe(theirs['signalbox/notes.txt'])
        expect((await text('signalbox/worker.js')).length).toBeGreaterThan(100_000)
        expect((await calls()).length).toBe(2)
      })

      it('sends the secret that CI keeps, by the line of the page', async () => {
        const { run, home, calls } = await theirPlace()
        const page = await readFile('docs/deploy.md', 'utf8')
        const line = page.split('\n').find((it) => it.includes('> ~/.local/state/signalbox/edges/'))
        const secret = 'the-secret-that-ci-keeps-of-32-bytes'
        const env = { ...MACHINE, HOME: home, AUTH_SECRETS: secret }
        const script = line?.replaceAll('my-edge', 'lamps') ?? ''
        await exec('/bin/sh', ['-c', script], { cwd: home, env })
        // The Worker is new, and still no other one is made.
        const { code } = await run([...NAMED, '--adopt'])
        const [upload] = (await calls()).filter(({ args }) => args[0] === 'deploy')
        expect([code, upload?.secrets]).toMatchObject([0, { AUTH_SECRETS: secret }])
      })

      it.each([
        'signalbox-edge',
        'signalbox-edge/signalbox',
        'signalbox-edge/index.js',
        'signalbox-edge/signalbox/console/key',
        'signalbox-edge/lib/of/theirs',
      ])('writes, removes and sends nothing through a link (%s)', async (name) => {
        const { run, calls, home, cwd } = await place()
        const target = join(home, 'own')
        await mkdir(target)
        await writeFile(join(target, '.profile'), 'umask 077\n')
        await mkdir(dirname(join(cwd, name)), { recursive: true })
        await symlink(name.endsWith('.js') ? join(target, '.profile') : target, join(cwd, name))
        const before = await allFiles(home)
        const { code, err } = await run([...NAMED, '--adopt'])
        expect([code, err]).toEqual([2, expect.stringContaining('is a link, or')])
        expect([await allFiles(home), await calls()]).toEqual([before, []])
      })

      it('writes nothing into a file that has another name elsewhere', async () => {
        const { run, home, cwd } = await place()
        const profile = join(home, '.profile')
        await writeFile(profile, 'umask 077\n')
        await mkdir(join(cwd, 'signalbox-edge/signalbox'), { recursive: true })
        await link(profile, join(cwd, 'signalbox-edge/signalbox/worker.js'))
        expect(await run([...NAMED, '--adopt'])).toMatchObject({ code: 0 })
        expect(await readFile(profile, 'utf8')).toBe('umask 077\n')
      })

      it('has wrangler read nothing of theirs, also before anybody is asked', async () => {
        const { run, calls, cwd } = await place()
        const edge = join(cwd, 'signalbox-edge')
        await run(NAMED)
        // As they come with a pull, into a folder that is known.
        const env = 'CLOUDFLARE_API_BASE_URL=https://elsewhere.test\n'
        for (const [name, text] of [
          ['.env', env],
          ['.env.local', env],
          ['wrangler.json', '{"name":"lamps","account_id":"theirs"}'],
          ['.npmrc', 'registry=https://elsewhere.test\n'],
        ] as const) {
          await writeFile(join(edge, name), text)
        }
        await run(NAMED, { FAKE_TAG: 'edge-1' })
        await run([...NAMED, '--dry-run'])
        const all = await calls()
        expect(all).toHaveLength(6)
        for (const { args, cwd: at } of all) {
          const folder = args[args.indexOf('--cwd') + 1] ?? ''
          const files = ['--cwd', folder, '--config', join(folder, 'wrangler.toml')]
          expect([at, args.slice(-6)]).toEqual(['/', [...files, '--env-file', devNull]])
        }
      })

      it.each(['', '.', 'node_modules/.bin'])(
        'runs no program of theirs by its name where PATH has the part "%s"',
        async (part) => {
          const { home, run, uploads, cwd } = await place()
          const ran = join(home, 'ran')
          for (const dir of [cwd, join(cwd, 'signalbox-edge')]) {
            await mkdir(join(dir, 'node_modules/.bin'), { recursive: true })
            for (const name of ['node', 'npx', 'node_modules/.bin/node', 'node_modules/.bin/npx']) {
              const trap = `#!/bin/sh\ntouch '${ran}'\n`
              await writeFile(join(dir, name), trap, { mode: 0o755 })
            }
          }
          const parts = [part, join(home, 'bin'), dirname(process.execPath), MACHINE.PATH]
          const { code } = await run([...NAMED, '--adopt'], { PATH: parts.join(delimiter) })
          expect([code, (await uploads()).length]).toEqual([0, 1])
          await expect(stat(ran)).rejects.toThrow('ENOENT')
        },
      )

      it('runs no wrangler of theirs unasked, and names it before', async () => {
        const { run, home, cwd, calls } = await place()
        const own = join(cwd, 'node_modules/.bin/wrangler')
        await mkdir(dirname(own), { recursive: true })
        await writeFile(own, '#!/bin/sh\ntouch "$HOME/ran"\nexit 1\n', { mode: 0o755 })
        const before = await allFiles(home)
        const { code, err } = await run(NAMED.slice(0, -1))
        expect([code, err]).toEqual([
          1,
          expect.stringContaining(`wrangler is that of the project: ${own}`),
        ])
        expect([await allFiles(home), await calls()]).toEqual([before, []])
      })
    })

    it('removes only what the last run wrote, and no version writes any more', async () => {
      const { run, cwd, home } = await place()
      await run(NAMED)
      const [file = ''] = (await readdir(join(home, '.local/state/signalbox/edges'))).filter((it) =>
        it.endsWith('.json'),
      )
      const path = join(home, '.local/state/signalbox/edges', file)
      const record = JSON.parse(await readFile(path, 'utf8'))
      const old = (text: string) => createHash('sha256').update(text).digest('hex')
      for (const name of ['old.js', 'edited.js']) {
        await writeFile(join(cwd, 'signalbox-edge/signalbox', name), name)
        record.files[`signalbox/${name}`] = old('old.js')
      }
      await writeFile(path, JSON.stringify(record))
      await run(['--yes'], { FAKE_TAG: 'edge-1' })
      const left = await readdir(join(cwd, 'signalbox-edge/signalbox'))
      expect(left.sort()).toEqual(['LICENSES.txt', 'console', 'edited.js', 'worker.js'])
    })

    it('leaves no file of secrets when wrangler fails, or is ended in the middle', async () => {
      const { run, start, uploads, rest } = await place()
      const failed = await run(NAMED, { FAKE_CODE: '3' })
      expect([failed.code, failed.err]).toEqual([
        1,
        expect.stringContaining('wrangler failed (exit code 3): see its output.'),
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
      const { code, err } = await run(NAMED.slice(0, -1))
      const line = `npx --yes wrangler@${manifest.devDependencies.wrangler}`
      expect([code, err]).toEqual([1, expect.stringContaining(line)])
      expect(err).toContain('Nothing was deployed: give --yes.')
    })

    it('says what is missing or impossible', async () => {
      const { run, uploads } = await place()
      for (const [words, why] of [
        [[], 'missing: --name <NAME>; --board <NAME>.'],
        [['--name', 'My Lamps', '--board', 'b'], 'My Lamps is no name of a Worker'],
        [['--name', 'lamps', '--board', 'b*'], '--board: The path ends in *.'],
        [[...NAMED, '--payments'], 'missing: LIBSQL_URL, the database of --payments.'],
      ] as const) {
        const { code, err } = await run([...words])
        expect([code, err]).toEqual([2, expect.stringContaining(why)])
      }
      expect(await uploads()).toEqual([])
    })
  })
}
