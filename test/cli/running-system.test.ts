// What commands find out about a running system.

import { execFileSync } from 'node:child_process'
import { chmod, mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { alsoRunning, namesOfFiles } from '../../cli/running-system.ts'
import { type LocalBoard, writeLocalJson } from '../../system/data/local-json.ts'
import { takeLock } from '../../system/data/lock.ts'
import { tempFolder } from '../support/temp-folder.ts'
import { run } from './run.ts'

test('of the files that variables name, those of secrets are told, and no others', () => {
  const told = {
    AUTH_SECRETS_FILE: '/a',
    ACME_CLIENT_SECRET_FILE: '/b',
    CREDENTIALS_DIRECTORY: '/c',
  }
  expect(
    namesOfFiles({ ...told, SSL_CERT_FILE: '/d', TF_CLI_CONFIG_FILE: '/e', HOME: '/f' }),
  ).toEqual(told)
})

describe('a start inside a project that runs already', () => {
  const url = 'http://127.0.0.1:8787'

  /** A project whose system runs, with a nested project in it. */
  async function running() {
    const project = tempFolder()
    const nested = join(project, 'packages/web')
    const dataDir = join(project, '.signalbox')
    await mkdir(nested, { recursive: true })
    await mkdir(dataDir, { mode: 0o700 })
    const lock = await takeLock(dataDir)
    if (!lock.ok) throw new Error('the lock is held')
    let isHeld = true
    const end = async () => {
      if (isHeld) await lock.release()
      isHeld = false
    }
    onTestFinished(end)
    const tell = (boards: LocalBoard[]) =>
      writeLocalJson(dataDir, { url, serve: { boards, files: {} } })
    await tell([{ path: 'web', dir: nested, layout: 'kiro' }])
    return { project, nested, dataDir, end, tell }
  }
  const own = (dir: string) => join(dir, '.signalbox')

  test('says where, and its address, in a nested project with a board of its own', async () => {
    const { project, nested, dataDir } = await running()
    expect(await alsoRunning(nested, own(nested))).toBe(
      `Signalbox already runs in ${project} at ${url}: this start is another system, ` +
        `with its own data in ${own(nested)}.`,
    )
    expect(await alsoRunning(project, dataDir)).toBeUndefined()
  })

  test('does so where the data folder of the nested project is left from a start before', async () => {
    const { nested } = await running()
    await mkdir(own(nested), { mode: 0o700 })
    await writeFile(join(own(nested), 'local.json'), '{}')
    expect(await alsoRunning(nested, own(nested))).toContain(url)
  })

  test('does so in a nested repository only if the system has a board of it', async () => {
    const { nested, tell } = await running()
    await mkdir(join(nested, '.git'))
    expect(await alsoRunning(nested, own(nested))).toContain(url)
    await tell([])
    expect(await alsoRunning(nested, own(nested))).toBeUndefined()
  })

  test('says so before anything else, also when the nested project runs itself', async () => {
    const { project, nested } = await running()
    await mkdir(join(nested, '.kiro/specs/tea'), { recursive: true })
    await writeFile(join(nested, '.kiro/specs/tea/tasks.md'), '- [ ] 1. Boil water\n')
    await mkdir(own(nested), { mode: 0o700 })
    const lock = await takeLock(own(nested))
    onTestFinished(() => (lock.ok ? lock.release() : undefined))
    const { code, err } = await run([], {}, { cwd: join(nested, '.kiro') })
    expect(code).toBe(2)
    expect(err.split('\n')).toEqual([
      expect.stringContaining(`already runs in ${project} at ${url}: this start is another system`),
      expect.stringContaining('Signalbox already runs here (pid '),
      '',
    ])
  })

  test('says nothing of a system that has ended, of a folder that others can write, or of a pipe', async () => {
    const { nested, dataDir, end } = await running()
    await chmod(dataDir, 0o777)
    expect(await alsoRunning(nested, own(nested))).toBeUndefined()
    await chmod(dataDir, 0o700)
    await rm(join(dataDir, 'local.json'))
    execFileSync('mkfifo', [join(dataDir, 'local.json')])
    expect(await alsoRunning(nested, own(nested))).toBeUndefined()
    await end()
    expect(await alsoRunning(nested, own(nested))).toBeUndefined()
  })
})

test('no command waits for a pipe in the place of a file of a data folder', async () => {
  const project = tempFolder()
  const state = tempFolder()
  const dataDir = join(project, '.signalbox')
  await mkdir(join(project, '.kiro/specs/tea'), { recursive: true })
  await writeFile(join(project, '.kiro/specs/tea/tasks.md'), '- [ ] 1. Boil water\n')
  await mkdir(dataDir, { mode: 0o700 })
  for (const name of ['lock', 'lock.sqlite', 'secret', 'ports.json', 'database']) {
    execFileSync('mkfifo', [join(dataDir, name)])
  }
  await writeFile(join(dataDir, 'local.json'), '{}')
  const commands = [
    ['claim'],
    ['check', '--actor', 'ada'],
    ['wait', '--until', 'ready', '--timeout', '30s'],
    ['doctor'],
  ]
  const ends = commands.map((words) => run(words, { XDG_STATE_HOME: state }, { cwd: project }))
  const [claim, check, wait] = await Promise.all(ends)
  expect([claim?.code, check?.code]).toEqual([1, 1])
  expect([wait?.code, wait?.out]).toEqual([0, expect.stringContaining('"type":"ready"')])
})
