import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { writeLocalJson } from '../../local/local-json.ts'
import { signIn } from '../contract/console-session.ts'
import { SECRET } from '../support/edge.ts'
import { processEdge } from '../support/process-edge.ts'
import { run } from './payments/bed.ts'

let dir: string
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'signalbox-data-'))
})
afterEach(() => rm(dir, { recursive: true }))

/** A data folder as `npm start` leaves it while it runs. */
async function start(): Promise<void> {
  await writeFile(join(dir, 'secret'), `${SECRET}\n`)
  const [url, database, simulator] = ['http://127.0.0.1:8787', 'http://d', 'http://s']
  const tokens = { board: 'b.t.k', sidecar: 's.t.k', payments: 'p.t.k' }
  const places = { url, path: '/srv/lamp', database, databaseToken: 'd', simulator }
  await writeLocalJson(dir, { ...places, tokens, gateways: {} })
}

describe('signalbox sign-in', () => {
  it('prints a link to the running system, another one each time, that its edge takes once', async () => {
    await start()
    const first = await run(`sign-in --data ${dir}`)
    expect(first).toMatchObject({ code: 0, err: '' })
    expect(first.out).toMatch(/^http:\/\/127\.0\.0\.1:8787\/#\/sign-in\/[\w.-]+\n$/)
    expect((await run(`sign-in --data ${dir}`)).out).not.toBe(first.out)
    const edge = processEdge()
    const code = first.out.trim().replace(/^.*\//, '')
    const session = {
      scopes: ['board:read', 'payments:read', 'payments:write'],
      repos: ['/srv/lamp'],
    }
    expect(await signIn(edge, { code })).toMatchObject({ status: 201, json: session })
    expect(await signIn(edge, { code })).toMatchObject({ json: { code: 'code_spent' } })
  })

  it('says that no system runs there', async () => {
    const { code, out, err } = await run(`sign-in --data ${dir}`)
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toContain('Signalbox is not running here: start it with npx signalbox.')
  })

  it('takes no argument', async () => {
    expect((await run('sign-in here')).code).toBe(2)
  })
})
