// The command line as the package has it, for the tests of whole systems: they start hundreds. From
// its sources each command loads some hundred files and takes twice as long, and each `signalbox` builds
// the page. That it runs from its sources, too, test/e2e/one-process.test.ts shows. And the page and
// the Worker of `npm start`.

import { mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { buildProgram } from '../../tools/package/build.ts'
import { bundleWorker } from '../../tools/start/bundle.ts'

/** Vitest calls it before the first of these tests. The folder is removed after the last one. */
export default async function setup(): Promise<() => Promise<void>> {
  const dir = await mkdtemp(join(tmpdir(), 'signalbox-built-'))
  await buildProgram(dir)
  // Not at the same time: it ends the process that builds.
  await bundleWorker('worker/index.ts', join(dir, 'start/worker.js'))
  // What is no part of the command line's bundles.
  await symlink(resolve('node_modules'), join(dir, 'node_modules'))
  process.env.BUILT_SIGNALBOX = join(dir, 'node/signalbox.js')
  process.env.BUILT_BUNDLES = dir
  return () => rm(dir, { recursive: true, force: true, maxRetries: 5 })
}
