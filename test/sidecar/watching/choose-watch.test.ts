import { describe, expect, it } from 'vitest'
import { chooseWatch, withFallback } from '../../../sidecar/watching/choose-watch.ts'
import type { Watch } from '../../../sidecar/watching/watch.ts'
import { watchPolling } from '../../../sidecar/watching/watch-polling.ts'

const idle =
  (name: string): Watch =>
  () =>
    Promise.resolve({ name, close: () => Promise.resolve() })

const refused: Watch = () => Promise.reject(new Error('ENOSPC: no watch left'))

/** Starts a watch on a folder that does not matter and returns its name and what it said. */
async function start(watch: Watch): Promise<{ name: string; gaps: string[] }> {
  const gaps: string[] = []
  const watcher = await watch('/nowhere/board', ['/nowhere/board'], {
    onHint: () => undefined,
    onGap: (why) => gaps.push(why),
  })
  await watcher.close()
  return { name: watcher.name, gaps }
}

describe('chooseWatch', () => {
  it('takes what the operator asks for, and the native watcher when nothing is asked', async () => {
    expect((await start(chooseWatch('auto'))).name).toBe('native')
    expect((await start(chooseWatch('native'))).name).toBe('native')
    expect((await start(chooseWatch('chokidar'))).name).toBe('chokidar')
    expect(chooseWatch('polling')).toBe(watchPolling)
  })
})

describe('withFallback', () => {
  it('says why it watches otherwise than asked', async () => {
    expect(await start(withFallback(refused, idle('polling')))).toEqual({
      name: 'polling',
      gaps: ['watching by polling instead: ENOSPC: no watch left'],
    })
  })

  it('says nothing when the first choice works', async () => {
    expect(await start(withFallback(idle('native'), refused))).toEqual({ name: 'native', gaps: [] })
  })

  it('does not hide it when nothing can watch', async () => {
    await expect(start(withFallback(refused, refused))).rejects.toThrow('ENOSPC')
  })
})
