import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { followStore, LOOK_EVERY_MS } from '../../local/store-notices.ts'
import { createLog } from '../../sidecar/log.ts'
import { FakeClock } from '../support/fake-clock.ts'

const folders: string[] = []
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true })
})

async function playground(before = '') {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-notices-'))
  folders.push(folder)
  const logFile = join(folder, 'sidecar.log')
  writeFileSync(logFile, before)
  const clock = new FakeClock()
  const asked = new AbortController()
  const notices: string[] = []
  const { after } = clock
  const notice = (sentence: string) => void notices.push(sentence)
  await followStore({ logFile, notice, after, signal: asked.signal })
  const log = createLog('json', (line) => appendFileSync(logFile, line))
  const look = async () => {
    await clock.advance(LOOK_EVERY_MS)
    // The next look is due only when this one is done.
    await expect.poll(() => clock.pending).toBe(1)
  }
  return { clock, logFile, log, look, notices, end: () => asked.abort() }
}

describe('the terminal', () => {
  it('shows once that the board is gone, and once that it is back', async () => {
    const { log, look, notices } = await playground()
    log('info', 'edge.synced')
    log('warn', 'store.missing', { root: '/b/.cairn' })
    await look()
    expect(notices).toEqual(['The board in /b/.cairn is gone; what was published of it stays.'])
    log('warn', 'store.missing', { root: '/b/.cairn' })
    log('warn', 'store.awaited', { dir: '/b' })
    log('info', 'store.present', { root: '/b/.cairn', files: 7 })
    log('info', 'store.present', { root: '/b/.cairn', files: 7 })
    await look()
    expect(notices.slice(1)).toEqual(['The board in /b/.cairn is back.'])
  })

  it('shows why a board cannot be read', async () => {
    const { log, look, notices } = await playground()
    log('warn', 'store.unreadable', { root: '/b', why: '/b/tasks cannot be read (EACCES)' })
    await look()
    expect(notices).toEqual([
      'The board in /b cannot be read whole: /b/tasks cannot be read (EACCES).',
    ])
  })

  it('ignores what was logged before, and waits for the end of a line', async () => {
    const line = '{"level":"warn","event":"store.missing","root":"/ä"}\n'
    const { logFile, look, notices } = await playground(line)
    await look()
    appendFileSync(logFile, Buffer.from(line).subarray(0, 47))
    await look()
    expect(notices).toEqual([])
    appendFileSync(logFile, Buffer.from(line).subarray(47))
    await look()
    expect(notices).toEqual(['The board in /ä is gone; what was published of it stays.'])
  })

  it('continues when the log cannot be read for a while, and leaves no timer at the end', async () => {
    const { clock, logFile, log, look, notices, end } = await playground()
    rmSync(logFile)
    await look()
    log('warn', 'store.missing', { root: '/b' })
    await look()
    expect(notices).toHaveLength(1)
    end()
    expect(clock.pending).toBe(0)
  })
})
