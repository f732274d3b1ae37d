// The console over HTTP, on workerd and on Node.

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Host } from '../../tools/harness/hosts.ts'
import { consolePageContract, writePage } from '../contract/console-page.ts'
import { codeFor, consoleSessionContract, signIn } from '../contract/console-session.ts'
import { expectHostsRefused } from '../contract/doors.ts'
import { freshPath } from '../support/edge.ts'
import { type EdgeProcess, startEdge } from '../support/start-edge.ts'
import { tempFolder } from '../support/temp-folder.ts'

describe.each<Host>(['workerd', 'node'])('the console', (host) => {
  let folder: string
  let edge: EdgeProcess
  beforeAll(async () => {
    folder = tempFolder()
    const consoleDir = join(folder, 'page')
    await writePage(consoleDir)
    edge = await startEdge(host, {}, { consoleDir })
  })
  afterAll(() => edge.close())

  consolePageContract(`${host}, over HTTP`, { edge: () => edge })
  consoleSessionContract(`${host}, over HTTP`, { edge: () => edge })

  it(`refuses on ${host} a Host header that is no host, and logs no failure of its own`, async () => {
    // Some of them workerd refuses itself.
    await expectHostsRefused(edge, host === 'workerd' ? [500, 400, 500] : undefined)
    expect(await readFile(join(edge.dir, 'edge.log'), 'utf8')).not.toContain('http.failed')
  })

  it(`remembers on ${host} which links were used when it is started again`, async () => {
    const used = await codeFor([freshPath()])
    const unused = await codeFor([freshPath()])
    expect((await signIn(edge, { code: used })).status).toBe(201)
    await edge.crash()
    expect(await signIn(edge, { code: used })).toMatchObject({ json: { code: 'code_spent' } })
    expect((await signIn(edge, { code: unused })).status).toBe(201)
  })
})

describe.each<Host>(['workerd', 'node'])('an edge without a page', (host) => {
  it(`says on ${host} how it is built`, async () => {
    const edge = await startEdge(host)
    try {
      const response = await edge.fetch('/')
      expect(response.status).toBe(503)
      const { code, error } = (await response.json()) as { code: string; error: string }
      expect(code).toBe('console_not_built')
      expect(error).toContain('npm run build')
    } finally {
      await edge.close()
    }
  })
})
