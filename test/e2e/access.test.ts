// Access on the runtimes themselves: the keys of somebody else, over real connections.

import { readdir, stat } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { callersAt, DOORS, knockAt } from '../contract/doors.ts'
import { publishedRepo, Repo, taskRecord, token } from '../support/edge.ts'
import { issuerEnv, startIssuer } from '../support/issuer.ts'
import { PATIENT } from '../support/patience.ts'
import { startEdge } from '../support/start-edge.ts'

/** Hands on what the issuer answers once it is let; counts what it is asked. */
async function startKeysDoor(jwksUrl: string) {
  const door = { asked: 0, isOpen: false, url: '' }
  const server = createServer(async (_, response) => {
    door.asked++
    if (!door.isOpen) return response.writeHead(502).end()
    response.end(await (await fetch(jwksUrl)).text())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  door.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/keys`
  return door
}

/** Payments and the page are not set up here. */
const BOARD_DOORS = Object.fromEntries(
  Object.entries(DOORS).filter(([, { ask }]) => !/payments|^\/$|^\/console/.test(ask)),
)

/** An object that is only asked leaves this much of workerd's own: the header of an empty file. */
const EMPTY_BYTES = 4_096

/** The databases of repositories in a folder that hold anything. */
async function databasesIn(dir: string): Promise<string[]> {
  const names = await readdir(dir, { recursive: true })
  const files = names.filter((name) => /[0-9a-f]{32}\.sqlite(-wal)?$/.test(name))
  // The runtime removes the -wal of an object that it lets go.
  const sizeOf = (name: string) =>
    stat(join(dir, name)).then(
      ({ size }) => size,
      () => 0,
    )
  const sizes = await Promise.all(files.map(sizeOf))
  return files.filter((_, i) => (sizes[i] ?? 0) > EMPTY_BYTES)
}

describe.each(['workerd', 'node'] as const)('access on %s', (host) => {
  it('makes no database for streams that wait for names which nobody has published', async () => {
    const edge = await startEdge(host)
    onTestFinished(() => edge.close())
    const repos = Array.from({ length: 5 }, () => new Repo(edge))
    const streams = await Promise.all(repos.map(async (repo) => (await repo.stream()).joined()))
    expect(await databasesIn(edge.dir)).toEqual([])
    const [repo] = repos
    await repo?.begin()
    await repo?.changes({ upserts: [taskRecord('A-1')] })
    await streams[0]?.until((s) => s.messages.length > 0)
    expect(await databasesIn(edge.dir)).not.toEqual([])
    await Promise.all(streams.map((stream) => stream.close()))
  })

  it('answers each kind of caller at the doors of the board as the app in this process does', async () => {
    const edge = await startEdge(host)
    onTestFinished(() => edge.close())
    const { path } = await publishedRepo(edge, [taskRecord('A-1')])
    for (const caller of await callersAt(edge.origin, path)) {
      const { answered, expected } = await knockAt(BOARD_DOORS, caller, { edge, path })
      expect(answered, caller.who).toEqual(expected)
    }
  })

  it('asks an issuer that is away once for many tokens, and takes them when it is back', async () => {
    const issuer = await startIssuer()
    const door = await startKeysDoor(issuer.jwksUrl)
    const edge = await startEdge(host, { ...issuerEnv(issuer), AUTH_JWKS_URL: door.url })
    onTestFinished(() => edge.close())
    const signed = await issuer.sign({ scope: 'board:read', repos: ['r'] })
    const ask = async (bearer: string) => {
      const headers = { Authorization: `Bearer ${bearer}` }
      const response = await edge.fetch('/api/tasks?path=r', { headers })
      return [response.status, ((await response.json()) as { code: string }).code]
    }
    const bogus = await issuer.sign({ scope: 'payments:write', repos: ['*'] }, 'another-key')
    const answers = await Promise.all(Array.from({ length: 30 }, () => ask(bogus)))
    expect(new Set(answers.map(String))).toEqual(new Set(['503,keys_unavailable']))
    expect(door.asked).toBe(1)
    // Ours need no keys of theirs.
    expect(await ask(await token({ repos: ['r'] }))).toEqual([404, 'unknown_repository'])

    door.isOpen = true
    const isTaken = async () => expect(await ask(signed)).toEqual([404, 'unknown_repository'])
    await vi.waitFor(isTaken, { ...PATIENT, interval: 250 })
    expect(door.asked).toBe(2)
    expect(await ask(bogus)).toEqual([401, 'unauthorized'])
    expect(door.asked).toBe(2)
  })
})
