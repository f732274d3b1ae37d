// Without a home folder that can be written to, as in some containers and services.

import { execFile } from 'node:child_process'
import { chmod, mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, describe, expect, it } from 'vitest'
import { SIGNALBOX } from '../../tools/harness/config.ts'
import { Starts, throughNpm } from '../support/local-system.ts'
import { tempFolder } from '../support/temp-folder.ts'

const run = promisify(execFile)
const starts = new Starts()
afterEach(() => starts.clear())

/** Root may write to any folder of a disk. */
async function readOnly(folder: string): Promise<string> {
  if (process.getuid?.() === 0) return '/sys'
  const home = join(folder, 'home')
  await mkdir(home)
  await chmod(home, 0o500)
  return home
}

type Home = (folder: string) => Promise<string | undefined>

/** With a temporary folder of its own. Nothing else says where anything could be kept. */
async function surroundings(
  homeOf: Home,
): Promise<{ folder: string; env: Record<string, string> }> {
  const folder = tempFolder()
  const [TMPDIR, home] = [join(folder, 'tmp'), await homeOf(folder)]
  await mkdir(TMPDIR)
  const { PATH = '' } = process.env
  return { folder, env: { PATH, TMPDIR, ...(home !== undefined && { HOME: home }) } }
}

describe.each([
  // npm sets it for its scripts where it is not set: to the home of whoever runs the tests.
  ['that is not set', async () => undefined, undefined],
  ['that is read-only', readOnly, throughNpm],
])('with a HOME %s', (_, homeOf, launch) => {
  it('npm start runs, says where its secret is and that no board is locked, and signs in', async () => {
    const { folder, env } = await surroundings(homeOf)
    const start = await (await starts.start({ onlyEnv: env, ...(launch && { launch }) })).ready()
    const [secret, lock, ...more] = start.stderr.split('\n')
    expect(secret).toMatch(/^signalbox: .+ so the secret is in .+, and lost with it;/)
    expect(lock).toMatch(/^signalbox: There is no lock for boards \(.+\): /)
    expect(more).toEqual([''])
    expect(await readdir(join(folder, 'tmp'))).toContainEqual(expect.stringMatching(/^signalbox-/))
    const kept = await readdir(start.dataDir, { recursive: true })
    expect(kept.filter((name) => /compiled|secret/.test(name))).toEqual([])
    const argv = [SIGNALBOX, 'sign-in', '--data', start.dataDir]
    const { stdout } = await run(process.execPath, argv, { env })
    expect(stdout).toContain(`${(await start.local()).url}/#/sign-in/`)
    expect(await start.fetch('/tasks')).toMatchObject({ status: 200 })
  })
})

it('with a HOME that is read-only npm ci finds what to install, and npm test runs and leaves nothing behind', async () => {
  const { folder, env } = await surroundings(readOnly)
  await run('npm', ['ci', '--dry-run', '--offline'], { env })
  const { stdout } = await run(
    'npm',
    [
      'test',
      '--',
      '--project',
      'node',
      'test/tools/start/child.test.ts',
      'test/cli/sign-in.test.ts',
    ],
    { env: { ...env, NO_COLOR: '1' } },
  )
  expect(stdout).toMatch(/Test Files +2 passed/)
  expect(await readdir(join(folder, 'tmp'))).not.toContainEqual(expect.stringMatching(/^signalbox/))
  await rm(join(folder, 'tmp'), { recursive: true })
})
