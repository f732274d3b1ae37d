import { spawn } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { type ChildSpec, spawnChild } from '../../../tools/start/child.ts'
import { PATIENT } from '../../support/patience.ts'
import { tempFolder } from '../../support/temp-folder.ts'

let dir: string
beforeAll(() => {
  dir = tempFolder()
})

function script(name: string, code: string, graceMs = 60_000): ChildSpec {
  return {
    name,
    command: process.execPath,
    args: ['-e', code],
    env: {},
    logFile: join(dir, `${name}.log`),
    graceMs,
  }
}

const logged = (name: string) => readFile(join(dir, `${name}.log`), 'utf8')

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    // ESRCH: gone.
    return false
  }
}

const STAY = 'setInterval(() => {}, 1000);'

describe('a child', () => {
  it('is the program itself: its pid, exit code and log, with only its own environment', async () => {
    const child = spawnChild({
      ...script(
        'plain',
        'console.log(process.pid, Object.keys(process.env).join()); process.exit(7)',
      ),
      env: { ONLY: 'this' },
    })
    expect(await child.ended).toEqual({ code: 7, signal: null })
    const [pid, names] = (await logged('plain')).trim().split(' ')
    expect(Number(pid)).toBe(child.pid)
    // A shell sets a few by itself.
    expect(names?.split(',').filter((name) => !/^(PWD|OLDPWD|SHLVL|_)$/.test(name))).toEqual([
      'ONLY',
    ])
  })

  it('gets the answers to what it asks', async () => {
    const asks = `process.on('message', ({ n }) => { console.log(n); process.exit() })
      process.send({ n: 1 })`
    const child = spawnChild({
      ...script('asks', asks),
      onMessage: (message, answer) => answer({ n: (message as { n: number }).n + 1 }),
    })
    expect(await child.ended).toEqual({ code: 0, signal: null })
    expect(await logged('asks')).toBe('2\n')
  })

  it('that ends by SIGTERM is not killed', async () => {
    const child = spawnChild(
      script('obeys', `process.on('SIGTERM', () => process.exit(0)); console.log('up'); ${STAY}`),
    )
    await vi.waitFor(async () => expect(await logged('obeys')).toBe('up\n'), PATIENT)
    child.stop()
    expect(await child.ended).toEqual({ code: 0, signal: null })
  })

  it('that SIGTERM does not end in time is killed', async () => {
    const child = spawnChild(
      script('deaf', `process.on('SIGTERM', () => {}); console.log('up'); ${STAY}`, 200),
    )
    await vi.waitFor(async () => expect(await logged('deaf')).toBe('up\n'), PATIENT)
    child.stop()
    expect(await child.ended).toEqual({ code: null, signal: 'SIGKILL' })
  })

  it('ends together with its own children', async () => {
    const grandchild = `require('node:child_process').spawn(process.execPath, ['-e', '${STAY}']).pid`
    const child = spawnChild(script('family', `console.log(${grandchild}); ${STAY}`))
    await vi.waitFor(async () => expect(await logged('family')).toMatch(/^\d+\n$/), PATIENT)
    const pid = Number(await logged('family'))
    expect(isAlive(pid)).toBe(true)
    child.kill()
    await child.ended
    await vi.waitFor(() => expect(isAlive(pid)).toBe(false), PATIENT)
  })

  it('has exit code 127 for a program that does not exist, and never throws', async () => {
    const child = spawnChild({ ...script('none', ''), command: join(dir, 'no-such-program') })
    expect(await child.ended).toEqual({ code: 127, signal: null })
  })

  it('does not outlive a parent that was killed, even if it ignores SIGTERM', async () => {
    const spec = script(
      'orphan',
      `process.on('SIGTERM', () => {}); console.log(process.pid); ${STAY}`,
    )
    const parentScript = join(dir, 'parent.ts')
    const child = resolve(import.meta.dirname, '../../../tools/start/child.ts')
    const code = `import { spawnChild } from ${JSON.stringify(child)}
      spawnChild(${JSON.stringify({ ...spec, graceMs: 300 })})`
    await writeFile(parentScript, code)
    const parent = spawn(process.execPath, [parentScript], { stdio: 'ignore' })
    await vi.waitFor(async () => expect(await logged('orphan')).toMatch(/^\d+\n$/), PATIENT)
    const pid = Number(await logged('orphan'))
    parent.kill('SIGKILL')
    await vi.waitFor(() => expect(isAlive(pid)).toBe(false), PATIENT)
  })
})
