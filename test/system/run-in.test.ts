import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { isRunning } from '../../system/data/lock.ts'
import { type Running, runIn } from '../../system/run-in.ts'
import { tempFolder } from '../support/temp-folder.ts'

let dataDir: string
let notices: string[]
let closed: string[]
beforeEach(() => {
  dataDir = join(tempFolder(), 'data')
  notices = []
  closed = []
})

/** Runs a system of three parts, of which the second cannot be closed. */
async function runs(run: (running: Running) => Promise<number>): Promise<number> {
  const location = { dataDir, trustsData: false, env: { HOME: join(dataDir, '../home') } }
  const asked = new AbortController().signal
  const notice = (sentence: string) => void notices.push(sentence)
  return await runIn({ location, host: 'node', asked, notice }, async (running) => {
    for (const name of ['database', 'edge', 'sidecar']) {
      running.defer(async () => {
        closed.push(name)
        if (name === 'edge') throw new Error('The edge cannot be closed.')
      })
    }
    return await run(running)
  })
}

describe('a part that cannot be closed', () => {
  it('keeps none of the others open, nor the folder locked, and is what is thrown', async () => {
    await expect(runs(async () => 0)).rejects.toThrow('The edge cannot be closed.')
    expect(closed).toEqual(['sidecar', 'edge', 'database'])
    expect(await isRunning(dataDir)).toBe(false)
  })

  it('does not hide why the run failed', async () => {
    const failing = runs(() => Promise.reject(new Error('The database is damaged.')))
    await expect(failing).rejects.toThrow('The database is damaged.')
    expect(notices).toEqual(['This failed, too, at the end: Error: The edge cannot be closed.'])
    expect(closed).toEqual(['sidecar', 'edge', 'database'])
    expect(await isRunning(dataDir)).toBe(false)
  })
})
