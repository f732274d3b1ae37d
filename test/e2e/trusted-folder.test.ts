// A data folder that came with a repository, and one that is trusted.

import { mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { mintTokens } from '../../system/local/tokens.ts'
import { MADE, oneProcess, Starts } from '../support/local-system.ts'
import { tempFolder } from '../support/temp-folder.ts'

const KNOWN = 'known-to-those-who-made-the-repository-43-characters'

const starts = new Starts()
afterEach(() => starts.clear())

async function folderWithSecret(): Promise<string> {
  const dataDir = join(tempFolder(), 'data')
  await mkdir(dataDir, { mode: 0o700 })
  await writeFile(join(dataDir, 'secret'), `${KNOWN}\n`, { mode: 0o600 })
  return dataDir
}

describe('a data folder with a secret in it', () => {
  it('makes no token of that secret valid, and the secret stays as it is', async () => {
    const dataDir = await folderWithSecret()
    const start = await (await starts.start({ dataDir, launch: oneProcess })).ready()
    const { path } = await start.local()
    const forged = await mintTokens(KNOWN, [path], Date.now())
    const authorization = `Bearer ${forged.payments}`
    expect(await start.fetch('/payments/transactions', { authorization })).toHaveProperty(
      'status',
      401,
    )
    expect(await start.fetch('/tasks')).toHaveProperty('status', 200)
    expect(start.stderr).toMatch(
      new RegExp(`^signalbox: The secret in the data folder [^\n]+ is not used[^\n]+\n${MADE}$`),
    )
    expect(await readFile(join(dataDir, 'secret'), 'utf8')).toBe(`${KNOWN}\n`)
  })

  it('uses it where it is trusted, and prints the command that signs in again', async () => {
    const dataDir = await folderWithSecret()
    const plan = { dataDir, launch: oneProcess, env: { SIGNALBOX_TRUST_DATA: '1' } }
    const start = await (await starts.start(plan)).ready()
    const { board } = await mintTokens(KNOWN, [(await start.local()).path], Date.now())
    const authorization = `Bearer ${board}`
    expect(await start.fetch('/tasks', { authorization })).toHaveProperty('status', 200)
    expect(start.stdout).toMatch(/signalbox sign-in [^\n]+ --trust-data prints another/)
    expect(start.stderr).toMatch(new RegExp(`^${MADE}$`))
  })

  it('is made with one where it is trusted', async () => {
    const start = await (await starts.start({ args: ['--trust-data'], launch: oneProcess })).ready()
    expect((await stat(join(start.dataDir, 'secret'))).mode & 0o777).toBe(0o600)
  })
})
