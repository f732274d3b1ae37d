import { mkdir, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { localSystemContract } from '../contract/local-system.ts'
import { type Start, Starts } from '../support/local-system.ts'
import { startProgram } from '../support/program.ts'
import { programEnv } from '../support/run-home.ts'
import { tempFolder } from '../support/temp-folder.ts'

localSystemContract('workerd')

const starts = new Starts()
afterEach(() => starts.clear())

/** One sentence on stderr, nothing on stdout, exit code 2, no process. */
async function refusal(plan: Parameters<Starts['start']>[0]): Promise<string> {
  const start = await starts.start(plan)
  expect(await start.ended).toEqual({ code: 2, signal: null })
  expect(start.stdout).toBe('')
  expect(await start.survivors()).toEqual([])
  expect(start.stderr).toMatch(/^signalbox: [^\n]+\n$/)
  return start.stderr
}

describe('a start that cannot be', () => {
  it('names a folder that is not there', async () => {
    const storeDir = join(tempFolder(), 'nowhere')
    expect(await refusal({ storeDir })).toContain(`There is no folder ${storeDir}`)
  })

  it('names a data folder that cannot be written', async () => {
    const file = join(tempFolder(), 'file')
    await writeFile(file, '')
    const sentence = await refusal({ dataDir: join(file, 'data') })
    expect(sentence).toContain(`The data folder ${file}/data cannot be written (ENOTDIR)`)
  })

  it('names what is wrong with the configuration', async () => {
    const sentence = await refusal({ env: { ALLOWED_ORIGINS: 'example.org' } })
    expect(sentence).toContain('ALLOWED_ORIGINS is not a URL')
  })

  it('names a database that does not come up', async () => {
    const dataDir = join(tempFolder(), 'data')
    await mkdir(dataDir, { mode: 0o700 })
    await writeFile(join(dataDir, 'sqld'), 'a file where a folder should be')
    const sentence = await refusal({ dataDir })
    expect(sentence).toMatch(/sqld \(pid \d+\) ended with exit code \d+ before it was ready; see/)
  })
})

describe('one Signalbox a board', () => {
  const sentence = (start: Start) =>
    `Signalbox already runs for the board ${start.storeDir} at ${localUrl}`
  const running = new Starts()
  let localUrl: string
  let first: Start
  beforeAll(async () => {
    first = await (await running.start()).ready()
    localUrl = (await first.local()).url
  })
  afterAll(() => running.clear())

  it('a start without a data folder of its choice ends with 1, and says where the board is', async () => {
    // It stays this start's while its sidecar is started again.
    process.kill(await first.pidOf('sidecar'), 'SIGKILL')
    const other = startProgram(
      [
        process.execPath,
        resolve('cli/signalbox.ts'),
        'start',
        `--store=${first.storeDir}`,
        '--port=0',
      ],
      { cwd: tempFolder(), env: programEnv(process.env.HOME ?? '') },
    )
    expect(await other.ended).toEqual({ code: 1, signal: null })
    expect(other.output).toContain(
      `${sentence(first)} (pid ${first.process.pid}, data in ${first.dataDir}): it is left out here.`,
    )
    expect(other.output).not.toContain('signalbox ready')
  })

  it('with one it runs, too, and a line says that claims are not shared', async () => {
    const other = await (await starts.start({ storeDir: first.storeDir })).ready()
    expect(other.stderr).toContain(sentence(first))
    expect(other.stderr).toContain('It runs here, too (--data), and claims are not shared.')
  })
})
