// The contract of `npm start`, for each runtime of the edge.

import { readdir, readFile, rename, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { LocalJson } from '../../local/local-json.ts'
import type { Task } from '../../worker/board/wire.ts'
import { type Start, Starts } from '../support/local-system.ts'
import { PATIENT } from '../support/patience.ts'
import { signIn } from './console-session.ts'

const STRIPE = { STRIPE_SECRET_KEY: 'sk_test_hidden', STRIPE_WEBHOOK_SECRET: 'whsec_hidden' }
const EXAMPLE = ['LAMP-1', 'LAMP-2', 'LAMP-3', 'LAMP-4', 'LAMP-5', 'LAMP-6', 'LAMP-7']

/** Saves a task like its tools: a temporary file, then a rename. */
async function saveTitle(start: Start, id: string, title: string): Promise<void> {
  const file = join(start.storeDir, '.cairn/tasks', `${id}.md`)
  const text = await readFile(file, 'utf8')
  const fresh = join(start.storeDir, '.cairn/tasks', `.tmp-${id}`)
  await writeFile(fresh, text.replace(/^title: .*$/m, `title: ${title}`))
  await rename(fresh, file)
}

const titleOf = async (start: Start, id: string): Promise<string> =>
  // While the edge is away there is no title.
  start.json<Task>(`/tasks/${id}`).then(
    ({ title }) => title,
    (error: unknown) => String(error),
  )

type DatabasePlace = Pick<LocalJson, 'database' | 'databaseToken'>

const query = async ({ database, databaseToken }: DatabasePlace, sql: string) => {
  const requests = [{ type: 'execute', stmt: { sql } }, { type: 'close' }]
  const response = await fetch(`${database}/v2/pipeline`, {
    method: 'POST',
    headers: { authorization: `Bearer ${databaseToken}` },
    body: JSON.stringify({ requests }),
  })
  return response.text()
}

export function localSystemContract(host: 'workerd' | 'deno'): void {
  const args = [`--host=${host}`]

  describe(`a running system (${host})`, () => {
    const starts = new Starts()
    let start: Start
    beforeAll(async () => {
      start = await (await starts.start({ args, env: STRIPE })).ready()
    })
    afterAll(() => starts.clear())

    it('prints one line when it is ready, and then everything answers', async () => {
      const local = await start.local()
      const { url, path, simulator, tokens } = local
      expect(start.readyLines).toEqual([`signalbox ready ${url}`])
      expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
      expect(path).toBe(start.storeDir)
      expect(Object.keys(tokens)).toEqual(['board', 'sidecar', 'payments'])
      expect(await query(local, 'SELECT count(*) FROM payment_outbox')).toContain('"0"')
      expect(await (await fetch(`${simulator}/health`)).text()).toBe('ok')
      const { tasks } = await start.json<{ tasks: Task[] }>('/tasks')
      expect(tasks.map(({ id }) => id)).toEqual(EXAMPLE)
      expect(start.stderr).toBe('')
    })

    it('serves the page, and the link that it prints signs a browser in, once', async () => {
      const { url, path } = await start.local()
      const [, link, code] = /^Open {2}(\S+#\/sign-in\/(\S+))$/m.exec(start.stdout) ?? []
      expect(link).toBe(`${url}/#/sign-in/${code}`)
      const page = await (await fetch(url)).text()
      const files = [...page.matchAll(/(?:src|href)="(\/console\/[^"]+)"/g)].map(([, it]) => it)
      expect(files.length).toBeGreaterThan(1)
      for (const file of files) {
        const answer = await fetch(`${url}${file}`)
        expect(answer.status, file).toBe(200)
        expect((await answer.text()).length, file).toBeGreaterThan(0)
      }
      const edge = {
        origin: url,
        fetch: (route: string, init?: RequestInit) => fetch(`${url}${route}`, init),
      }
      expect(await signIn(edge, { code })).toMatchObject({ status: 201, json: { repos: [path] } })
      expect(await signIn(edge, { code })).toMatchObject({ status: 401 })
    })

    it('writes files that only their owner can read', async () => {
      const names = await readdir(start.dataDir, { recursive: true })
      expect(names).toContain('local.json')
      const open = await Promise.all(
        ['', ...names].map(async (name) => {
          // Some files of a database come and go.
          const mode = (await stat(join(start.dataDir, name)).catch(() => undefined))?.mode ?? 0
          return (mode & 0o077) === 0 ? [] : [name]
        }),
      )
      expect(open.flat()).toEqual([])
    })

    it('shows no secret in the list of processes', async () => {
      const secret = (await readFile(join(start.dataDir, 'secret'), 'utf8')).trim()
      const { tokens, gateways, databaseToken } = await start.local()
      const commands = (await start.children()).map(({ command }) => command).join('\n')
      const shown = [
        databaseToken,
        ...Object.values(tokens),
        gateways.redirect?.api_key ?? 'no key',
      ]
      for (const hidden of [secret, ...shown, ...Object.values(STRIPE)]) {
        expect(commands).not.toContain(hidden)
      }
    })

    it('refuses access to the database without its token', async () => {
      const { database } = await start.local()
      const answer = await query({ database, databaseToken: '' }, 'SELECT 1')
      expect(answer).toContain('Unauthorized')
      expect((await fetch(`${database}/dump`)).status).toBe(401)
    })

    it('simulates the gateways that the environment does not configure', async () => {
      const { url, simulator, gateways } = await start.local()
      expect(gateways).toEqual({
        redirect: { api_key: expect.stringMatching(/^[\w-]{43}$/) },
        fib: { client_id: 'signalbox-local' },
        stripe: { webhook_secret: 'whsec_hidden' },
      })
      // Only its own system has its credentials.
      const granted = await fetch(`${simulator}/oauth2/token`, {
        method: 'POST',
        body: new URLSearchParams({ grant_type: 'client_credentials', client_id: 'x' }),
      })
      expect(granted.status).toBe(401)
      expect(new URL(simulator).hostname).toBe(new URL(url).hostname)
    })

    it('restarts the simulator on the same port', async () => {
      const { simulator } = await start.local()
      await start.killAndWait('simulator')
      const health = () =>
        fetch(`${simulator}/health`).then(
          (answer) => answer.status,
          () => 0,
        )
      await expect.poll(health, PATIENT).toBe(200)
    })

    it('sends a saved task to a client', async () => {
      const stream = await (await start.stream()).joined()
      await saveTitle(start, 'LAMP-4', 'Wake up to a lamp')
      await stream.until(({ messages }) => messages.length === 1)
      expect(stream.messages).toEqual([{ type: 'task-changed', id: 'LAMP-4' }])
      expect(await titleOf(start, 'LAMP-4')).toBe('Wake up to a lamp')
      await stream.close()
    })

    it('loses no change while the sidecar is dead, and clients stay connected', async () => {
      const stream = await (await start.stream()).joined()
      const back = start.killAndWait('sidecar')
      await saveTitle(start, 'LAMP-5', 'Saved in between')
      await back
      await stream.until(({ messages }) => messages.length > 0)
      expect(stream.messages).toEqual([{ type: 'task-changed', id: 'LAMP-5' }])
      expect(await titleOf(start, 'LAMP-5')).toBe('Saved in between')
      await stream.close()
      expect(start.stderr).toMatch(
        /signalbox: sidecar \(pid \d+\) was ended by SIGKILL; starting it again/,
      )
    })

    it('loses no change while the edge is dead, and a client catches up by id', async () => {
      const { url } = await start.local()
      const stream = await (await start.stream()).joined()
      const back = start.killAndWait(host)
      await saveTitle(start, 'LAMP-6', 'Saved without an edge')
      await back
      await expect.poll(() => titleOf(start, 'LAMP-6'), PATIENT).toBe('Saved without an edge')
      expect((await start.local()).url).toBe(url)
      const resumed = await start.stream(stream.lastId)
      await resumed.until(({ messages }) => messages.length > 0)
      expect(resumed.messages).toEqual([{ type: 'task-changed', id: 'LAMP-6' }])
      await resumed.close()
    })

    it('prints one line when the board disappears and one when it is back', async () => {
      const lines = () => start.stderr.split('\n').filter((line) => line.includes('board'))
      const folder = join(start.storeDir, '.cairn')
      await rename(folder, join(start.storeDir, 'elsewhere'))
      const gone = `signalbox: The board in ${folder} is gone; what was published of it stays.`
      await expect.poll(lines, PATIENT).toEqual([gone])
      await start.killAndWait('sidecar')
      await rename(join(start.storeDir, 'elsewhere'), folder)
      await expect
        .poll(lines, PATIENT)
        .toEqual([gone, `signalbox: The board in ${folder} is back.`])
      await saveTitle(start, 'LAMP-7', 'Saved after all')
      await expect.poll(() => titleOf(start, 'LAMP-7'), PATIENT).toBe('Saved after all')
    })

    it('restarts the database on the same port, with its data', async () => {
      const local = await start.local()
      const alert = `INSERT INTO payment_alerts (id, kind, subject, gateway, created_at)
        VALUES ('a1', 'test', 's', 'g', 1)`
      expect(await query(local, alert)).toContain('"ok"')
      await start.killAndWait('sqld')
      const alerts = () =>
        // It refuses connections for a moment.
        query(local, 'SELECT id FROM payment_alerts').catch(String)
      await expect.poll(alerts, PATIENT).toContain('"a1"')
    })
  })

  describe(`the end of a system (${host})`, () => {
    const starts = new Starts()
    afterEach(() => starts.clear())

    it('comes by SIGTERM with exit code 0, even under open streams; no process and no local.json stays', async () => {
      const start = await (await starts.start({ args })).ready()
      const stream = await (await start.stream()).joined()
      const names = (await start.children()).map(({ name }) => name).filter((it) => it !== 'tie')
      expect(names.toSorted((a, b) => a.localeCompare(b))).toEqual(
        [host, 'sidecar', 'simulator', 'sqld'].toSorted((a, b) => a.localeCompare(b)),
      )
      start.process.kill('SIGTERM')
      expect(await start.ended).toEqual({ code: 0, signal: null })
      expect(await start.survivors()).toEqual([])
      await expect(start.local()).rejects.toMatchObject({ code: 'ENOENT' })
      await stream.close()
    })

    it('comes by SIGINT with exit code 0, and a second SIGINT is harmless', async () => {
      const start = await (await starts.start({ args })).ready()
      start.process.kill('SIGINT')
      start.process.kill('SIGINT')
      expect(await start.ended).toEqual({ code: 0, signal: null })
      expect(await start.survivors()).toEqual([])
    })

    it('comes in the same way before the start is ready', async () => {
      const start = await starts.start({ args })
      await expect.poll(async () => (await start.children()).length > 0, PATIENT).toBe(true)
      start.process.kill('SIGTERM')
      expect(await start.ended).toEqual({ code: 0, signal: null })
      expect(start.readyLines).toEqual([])
      expect(await start.survivors()).toEqual([])
    })

    it('leaves no process behind when the parent is killed, and the next start takes over', async () => {
      const first = await (await starts.start({ args })).ready()
      const { url, tokens } = await first.local()
      first.process.kill('SIGKILL')
      await first.ended
      const { storeDir, dataDir } = first
      const port = `--port=${new URL(url).port}`
      const second = await starts.start({ args: [...args, port], storeDir, dataDir })
      await second.ready()
      expect((await second.local()).url).toBe(url)
      const status = await fetch(`${url}/api/status`, {
        headers: { authorization: `Bearer ${tokens.board}` },
      })
      expect(status.status).toBe(200)
      second.process.kill('SIGTERM')
      expect(await second.ended).toEqual({ code: 0, signal: null })
      await first.nothingLeft()
    })
  })

  describe(`a start that fails (${host})`, () => {
    const starts = new Starts()
    afterEach(() => starts.clear())

    it('reports a port that is in use, exits with 2 and leaves nothing behind', async () => {
      const server = createServer().listen(0, '127.0.0.1')
      await new Promise((resolve) => server.once('listening', resolve))
      const address = server.address()
      const port = typeof address === 'object' ? address?.port : undefined
      const start = await starts.start({ args: [...args, `--port=${port}`] })
      expect(await start.ended).toEqual({ code: 2, signal: null })
      expect(start.stderr).toBe(
        `signalbox: Port ${port} of 127.0.0.1 is taken; choose another with --port.\n`,
      )
      expect(start.stdout).toBe('')
      expect(await start.survivors()).toEqual([])
      server.close()
    })

    it('reports that another start uses its data folder, and does not disturb that one', async () => {
      const first = await (await starts.start({ args })).ready()
      const second = await starts.start({ args, dataDir: first.dataDir })
      expect(await second.ended).toEqual({ code: 2, signal: null })
      expect(second.stderr).toBe(
        `signalbox: The data folder ${first.dataDir} is in use by the running signalbox with pid ${first.process.pid}.\n`,
      )
      expect((await first.fetch('/status')).status).toBe(200)
    })
  })
}
