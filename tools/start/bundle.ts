// What a start builds from its sources: the Worker and the console's page, with esbuild, whose one
// service process all builds of this process share.

import { mkdir, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { type BuildFailure, build, stop } from 'esbuild'
import { buildConsole } from '../../console/build.ts'
import { StartError } from '../../system/start-error.ts'

let running = 0

/**
 * Runs what builds by esbuild. `what`: as a sentence begins, `The Worker`. Throws StartError.
 * @forTests With builds that fail, without a Worker.
 */
export async function bundling(what: string, work: () => Promise<unknown>): Promise<void> {
  running++
  try {
    await work()
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

/** One ES module, made as wrangler makes it; what the runtime brings stays an import. */
export const bundleWorker = (entry: string, outfile: string): Promise<void> =>
  bundling('The Worker', async () => {
    const { outputFiles } = await build({
      entryPoints: [entry],
      outfile,
      bundle: true,
      format: 'esm',
      target: 'es2024',
      conditions: ['workerd', 'worker', 'browser'],
      external: ['cloudflare:*', 'node:*'],
      sourcemap: 'inline',
      sourcesContent: false,
      logLevel: 'silent',
      write: false,
    })
    await mkdir(dirname(outfile), { recursive: true })
    for (const { path, contents } of outputFiles) await writeFile(path, contents)
  })

/** `outDir`: the folder that the page is served from. */
export const bundleConsole = (outDir: string): Promise<void> =>
  bundling('The console', () => buildConsole(outDir))
