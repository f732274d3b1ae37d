// What a layout says of a file, and a folder that another process swaps.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { Entry, Store } from '../../../sidecar/layouts/layout.ts'

/** What the store says of one file, by its path beneath the store's root. */
export function say(store: Store, path: string, text: string): readonly Entry[] {
  const absolute = join(store.root, path)
  const kind = store.classify(absolute)
  if (kind === undefined) throw new Error(`${path} is ignored`)
  return store.parse(absolute, kind, text).entries
}

/** The one task that a file holds. */
export function sayTask(store: Store, path: string, text: string) {
  const [entry] = say(store, path, text)
  if (entry?.kind !== 'task') throw new Error(`${path} holds no task`)
  return entry.task
}

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
