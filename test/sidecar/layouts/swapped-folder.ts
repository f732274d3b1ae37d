// A folder that another process swaps for a link and back, in a loop.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { onTestFinished } from 'vitest'

const SWAP = `
  const { renameSync, symlinkSync } = process.getBuiltinModule('fs')
  const [at, elsewhere] = process.argv.slice(1)
  process.stdout.write('swapping')
  for (let n = 0; ; n++) {
    symlinkSync(elsewhere, at + '.link')
    renameSync(at, at + '.away')
    renameSync(at + '.link', at)
    renameSync(at, at + '.old')
    renameSync(at + '.away', at)
  }`

/** Until it is stopped or the test ends, as fast as it can. */
export async function swapForLink(at: string, elsewhere: string): Promise<() => Promise<void>> {
  const stdio = ['ignore', 'pipe', 'inherit'] as const
  const swapper = spawn(process.execPath, ['-e', SWAP, at, elsewhere], { stdio: [...stdio] })
  const ended = once(swapper, 'exit')
  const stop = async () => {
    swapper.kill('SIGKILL')
    await ended
  }
  onTestFinished(stop)
  if (swapper.stdout) await once(swapper.stdout, 'data')
  return stop
}
