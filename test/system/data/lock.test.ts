import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { isRunning, type Lock, takeLock } from '../../../system/data/lock.ts'
import { PATIENT } from '../../support/patience.ts'
import { tempFolder } from '../../support/temp-folder.ts'

let dir: string
let children: ChildProcess[]
let locks: Lock[]
beforeEach(() => {
  dir = tempFolder()
  children = []
  locks = []
})
afterEach(async () => {
  for (const lock of locks) if (lock.ok) await lock.release()
  for (const child of children) child.kill('SIGKILL')
})

async function take(): Promise<Lock> {
  const lock = await takeLock(dir)
  locks.push(lock)
  return lock
}

const startProgram = (command: string, ...args: string[]): ChildProcess => {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  children.push(child)
  return child
}

/** The start time of a process, as the lock's text has it. */
const bornOf = async (pid: number | undefined) =>
  (await readFile(`/proc/${pid}/stat`, 'utf8')).split(' ')[21]

const NAMESPACE = ['--pid', '--fork', '--kill-child', '--mount-proc']
const canMakeNamespaces = spawnSync('unshare', [...NAMESPACE, 'true']).status === 0

const HOLD = `
  const { takeLock } = await import(process.argv[1])
  const { ok } = await takeLock(process.argv[2])
  console.log(ok ? 'held as ' + process.pid : 'refused')
  setInterval(() => {}, 1000)`

/** A pid that no process has: past the largest that the system gives out. */
const NOBODY = 2 ** 22 + 1

describe('the lock of a data folder', () => {
  it('has one holder until it is released', async () => {
    expect(await isRunning(dir)).toBe(false)
    const first = await take()
    expect(await take()).toEqual({ ok: false, pid: process.pid })
    expect(await isRunning(dir)).toBe(true)
    if (first.ok) await first.release()
    expect(await isRunning(dir)).toBe(false)
    expect(await take()).toMatchObject({ ok: true, inherited: false })
  })

  it.each([
    ['a process that is gone', JSON.stringify({ pid: NOBODY, born: '1' })],
    ['an earlier process with the same pid', JSON.stringify({ pid: process.pid, born: '1' })],
    ['an unreadable file', 'not ours'],
    ['an empty file', ''],
  ])('is inherited from %s, and no other file is left', async (_, text) => {
    await writeFile(join(dir, 'lock'), text)
    expect(await take()).toMatchObject({ ok: true, inherited: true })
    expect(await readdir(dir)).toEqual(['lock', 'lock.sqlite'])
  })

  it.runIf(process.platform === 'linux')(
    'is inherited from a dead child of a careless parent',
    async () => {
      const careless = startProgram('sh', '-c', 'sleep 0.2 & echo $!; exec sleep 60')
      const [line] = await once(careless.stdout ?? careless, 'data')
      const pid = Number(String(line))
      const state = async () => (await readFile(`/proc/${pid}/stat`, 'utf8')).split(' ')[2]
      await expect.poll(state, PATIENT).toBe('Z')
      await writeFile(join(dir, 'lock'), JSON.stringify({ pid, born: await bornOf(pid) }))
      expect(await take()).toMatchObject({ ok: true, inherited: true })
    },
  )

  it('has another holder under another name, who says where it is', async () => {
    await take()
    const other = await takeLock(dir, { name: 'tea', place: '/data' })
    locks.push(other)
    expect(other).toMatchObject({ ok: true, inherited: false })
    const refused = { ok: false, pid: process.pid, place: '/data' }
    expect(await takeLock(dir, { name: 'tea' })).toEqual(refused)
  })

  it.runIf(canMakeNamespaces)(
    'is not taken from a process whose pid means nothing here, until that is killed',
    async () => {
      const module = new URL('../../../system/data/lock.ts', import.meta.url).href
      const args = [process.execPath, '--input-type=module', '--eval', HOLD, module, dir]
      const other = startProgram('unshare', ...NAMESPACE, ...args)
      const [line] = await once(other.stdout ?? other, 'data')
      expect(String(line)).toBe('held as 1\n')
      expect(await isRunning(dir)).toBe(true)
      expect(await take()).toEqual({ ok: false })

      other.kill('SIGKILL')
      await expect.poll(() => isRunning(dir), PATIENT).toBe(false)
      expect(await take()).toMatchObject({ ok: true, inherited: true })
    },
  )

  it('refuses a folder that it cannot lock', async () => {
    await mkdir(join(dir, 'lock.sqlite'))
    await expect(take()).rejects.toMatchObject({
      code: 'bad_data_folder',
      message: expect.stringContaining('cannot be locked'),
    })
  })

  it('is not waited for where a pipe that nobody writes to has its name', async () => {
    execFileSync('mkfifo', [join(dir, 'lock')])
    expect(await isRunning(dir)).toBe(false)
    expect(await take()).toMatchObject({ ok: true, inherited: false })
  })

  it.each(['a pipe', 'a link'])('is not looked for in %s', async (what) => {
    const elsewhere = join(dir, 'elsewhere')
    if (what === 'a pipe') execFileSync('mkfifo', [join(dir, 'lock.sqlite')])
    else await symlink(elsewhere, join(dir, 'lock.sqlite'))
    expect(await isRunning(dir)).toBe(false)
    await expect(take()).rejects.toMatchObject({ code: 'bad_data_folder' })
    expect(await readdir(dir)).not.toContain('elsewhere')
  })
})
