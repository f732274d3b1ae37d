import { writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { claimPorts, findPorts } from '../../../system/local/ports.ts'
import { freePort } from '../../../tools/harness/free-port.ts'
import { tempFolder } from '../../support/temp-folder.ts'

describe('free ports', () => {
  it('that are found together are all different, and are free afterwards', async () => {
    const claims = await findPorts(Array.from({ length: 20 }, () => 0))
    const ports = claims.map((claim) => (claim.ok ? claim.port : 0))
    expect(new Set(ports).size).toBe(20)
    // Not each of them: other programs get ports, too.
    const again = await findPorts(ports)
    expect(again.some(({ ok }) => ok)).toBe(true)
  })

  it('that are requested twice are found once', async () => {
    const port = await freePort()
    const claims = await findPorts([port, port])
    expect(claims.map(({ ok }) => ok)).toEqual([true, false])
  })
})

describe('the ports of a data folder', () => {
  let dir: string
  let notices: string[]
  let servers: Server[]
  beforeEach(() => {
    dir = tempFolder()
    notices = []
    servers = []
  })
  afterEach(async () => {
    for (const server of servers) await new Promise((resolve) => server.close(resolve))
  })

  const claim = (port?: number, inherited = false) =>
    claimPorts({
      data: { dir, inherited },
      port,
      notice: (sentence) => notices.push(sentence),
      signal: new AbortController().signal,
    })
  const take = async (port: number): Promise<Server> => {
    const server = createServer()
    servers.push(server)
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
    return server
  }

  it('are the last ones of its edge and its simulator, and all different', async () => {
    const first = await claim(await freePort())
    expect(new Set(Object.values(first)).size).toBe(3)
    const { edge, simulator } = first
    expect(await claim()).toMatchObject({ edge, simulator })
    expect(notices).toEqual([])
  })

  it('are the one that is named, which is the last one then', async () => {
    const { simulator } = await claim(await freePort())
    const named = await freePort()
    expect(await claim(named)).toMatchObject({ edge: named, simulator })
    expect(await claim()).toMatchObject({ edge: named, simulator })
    const { edge: any } = await claim(0)
    expect([0, named]).not.toContain(any)
    expect((await claim()).edge).toBe(any)
  })

  it('are others where these are taken, which a sentence says', async () => {
    const before = await claim(await freePort())
    await take(before.edge)
    const second = await claim()
    expect(second.edge).not.toBe(before.edge)
    expect(second.simulator).toBe(before.simulator)
    await take(before.simulator)
    const third = await claim()
    expect(third.edge).toBe(second.edge)
    expect(third.simulator).not.toBe(before.simulator)
    expect(notices).toEqual([
      `Port ${before.edge} is taken, so another one is used.`,
      `Port ${before.simulator} of the simulator is taken, so another one is used: pages of open ` +
        'charges do not open any more.',
    ])
  })

  it('are refused where a port that is named is taken', async () => {
    const port = await freePort()
    await take(port)
    await expect(claim(port)).rejects.toMatchObject({ code: 'port_taken' })
  })

  it('are waited for while what a killed run left behind still listens', async () => {
    const { edge } = await claim(await freePort())
    const left = await take(edge)
    const claimed = claim(undefined, true)
    left.close()
    expect((await claimed).edge).toBe(edge)
    expect(notices).toEqual([])
  })

  it.each(['', '[]', '{"edge":80000}', '{"edge":"8787"}'])(
    'are new ones if its file holds %j',
    async (text) => {
      await writeFile(join(dir, 'ports.json'), text)
      expect((await claim(0)).simulator).toBeGreaterThan(0)
    },
  )
})
