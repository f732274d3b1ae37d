// `npx wrangler dev` on a machine that has only what .dev.vars.example says: its commands are run as
// they stand there.

import { execFile } from 'node:child_process'
import { cp, readFile, stat, symlink } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { tempFolder } from '../support/temp-folder.ts'
import {
  startWranglerDev,
  WRANGLER_WAIT_MS,
  type WranglerDev,
  wranglerEnv,
} from '../support/wrangler-dev.ts'

// biome-ignore format: several paths a line.
const COPIED = [
  '.dev.vars.example', 'package.json', 'tsconfig.json', 'wrangler.toml', 'signalbox.config.ts',
  'worker', 'libraries', 'console', 'sidecar', 'cli', 'system', 'tools/start', 'examples',
]
let dir: string
let wrangler: WranglerDev | undefined

beforeAll(async () => {
  dir = tempFolder()
  for (const name of COPIED) await cp(name, join(dir, name), { recursive: true })
  await symlink(resolve('node_modules'), join(dir, 'node_modules'))
})
afterAll(() => wrangler?.close())

/** The indented lines of the comment. */
async function commands(): Promise<string[]> {
  const text = await readFile('.dev.vars.example', 'utf8')
  return [...text.matchAll(/^# {3}(\S.*)$/gm)].map(([, command = '']) => command)
}

const run = async (command: string, more: Record<string, string> = {}): Promise<string> => {
  const options = { cwd: dir, env: { ...wranglerEnv(dir), ...more } }
  return (await promisify(execFile)('/bin/sh', ['-c', command], options)).stdout.trim()
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
      wrangler = await startWranglerDev(dir, 'npx wrangler')
      const { origin } = wrangler

      expect((await fetch(`${origin}/api/tasks`)).status).toBe(401)
      const sync = `npx signalbox sync examples/board --edge=${origin} --repo=my-team/board`
      await run(sync, { SIGNALBOX_TOKEN: token })
      const answer = await fetch(`${origin}/api/tasks`, {
        headers: { authorization: `Bearer ${token}` },
      })
      expect(await answer.json()).toMatchObject({ tasks: [{ id: 'LAMP-1' }, ...SIX_MORE] })
      expect(await (await fetch(origin)).text()).toContain('/console/main-')
    },
    WRANGLER_WAIT_MS + 30_000,
  )
})

const SIX_MORE = Array.from({ length: 6 }, () => ({
  id: expect.stringMatching(/^LAMP-\d$/) as string,
}))
