import { readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { decodeJwt, jwtVerify } from 'jose'
import { beforeEach, describe, expect, it } from 'vitest'
import { writeLocalJson } from '../../../system/data/local-json.ts'
import { databaseAccess, mintTokens, startLink } from '../../../system/local/tokens.ts'
import { tempFolder } from '../../support/temp-folder.ts'

let dir: string
beforeEach(() => {
  dir = tempFolder()
})

describe('the tokens of a local system', () => {
  const secret = 's'.repeat(43)
  const now = Date.UTC(2026, 0, 1)
  const verify = async (token: string) => {
    const options = { audience: 'signalbox', currentDate: new Date(now) }
    return (await jwtVerify(token, new TextEncoder().encode(secret), options)).payload
  }

  it('allow what their names say, for their repositories and thirty days', async () => {
    const tokens = await mintTokens(secret, ['my/repo', 'my/repo/*'], now)
    const common = { repos: ['my/repo', 'my/repo/*'], exp: now / 1_000 + 30 * 24 * 3_600 }
    expect(await verify(tokens.board)).toMatchObject({ ...common, scope: 'board:read board:lead' })
    const agent = { ...common, scope: 'board:read board:work' }
    expect(await verify(tokens.agent)).toMatchObject(agent)
    const sidecar = { ...common, scope: 'board:read board:write' }
    expect(await verify(tokens.sidecar)).toMatchObject(sidecar)
    const payments = { ...common, scope: 'payments:read payments:write' }
    expect(await verify(tokens.payments)).toMatchObject(payments)
  })
})

describe('the link that a start prints', () => {
  it('lets a person end claims and pause a board on loopback, and not where it is shared', async () => {
    const secret = 's'.repeat(43)
    const tokens = await mintTokens(secret, ['r'], Date.now())
    const scopeOf = async (isShared: boolean) => {
      const target = { url: 'http://127.0.0.1:1', tokens }
      const link = await startLink(secret, target, { isShared, now: Date.now() })
      return decodeJwt(link.replace(/^.*\//, '')).scope
    }
    const payments = 'payments:read payments:write'
    expect(await scopeOf(false)).toBe(`board:read board:work board:lead ${payments}`)
    expect(await scopeOf(true)).toBe(`board:read ${payments}`)
  })
})

describe("the access to a data folder's database", () => {
  it('is the same at every start, and different for each data folder', async () => {
    const [first, again, other] = await Promise.all(
      ['s', 's', 'o'].map((letter) => databaseAccess(letter.repeat(43))),
    )
    expect(again).toEqual(first)
    expect(other?.publicKey).not.toBe(first?.publicKey)
  })
})

describe('local.json', () => {
  it('replaces an older one completely, and is readable by its owner alone', async () => {
    const file = join(dir, 'local.json')
    await writeFile(file, 'an old one', { mode: 0o644 })
    const tokens = { board: 'b', sidecar: 's', payments: 'p' }
    const local = {
      url: 'http://127.0.0.1:1',
      path: 'r',
      boards: [{ path: 'r', dir: '/r', layout: 'cairn' as const }],
      database: 'http://127.0.0.1:2',
      databaseToken: 'd',
      simulator: 'http://127.0.0.1:3',
      tokens,
      gateways: { redirect: { api_key: 'k' } },
    }
    await writeLocalJson(dir, local)
    expect(JSON.parse(await readFile(file, 'utf8'))).toEqual(local)
    expect((await stat(file)).mode & 0o777).toBe(0o600)
  })
})
