// esbuild, whose one service process all builds of this process share.

import { type BuildFailure, stop } from 'esbuild'
import { StartError } from './start-error.ts'

let running = 0

/** Runs what builds by esbuild. `what`: as a sentence begins, `The Worker`. Throws StartError. */
export async function bundling(what: string, build: () => Promise<unknown>): Promise<void> {
  running++
  try {
    await build()
  } catch (error) {
    const [first] = (error as Partial<BuildFailure>).errors ?? []
    const { file, line } = first?.location ?? {}
    const where = file === undefined ? '' : `${file}:${line}: `
    const why = first?.text ?? String(error)
    throw new StartError('bundle_failed', `${what} cannot be built: ${where}${why}`, {
      cause: error,
    })
  } finally {
    running--
    // It would live as long as we do; ended under another build, it would leave that one waiting
    // for ever.
    if (running === 0) await stop()
  }
}
