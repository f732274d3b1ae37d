// `signalbox` in the installed package: its commands, the configuration of the folder that it runs
// in, and its own files.

import { join } from 'node:path'
import { PACKAGED } from '../cli/packaged.ts'
import { runProcess } from '../cli/process.ts'
import type { Home } from '../local/home.ts'

/** Of the package. Its bundles are one folder deep, like this file. */
const dir = join(import.meta.dirname, '..')
const home: Home = {
  dir,
  databaseThread: new URL('database-thread.js', import.meta.url),
  console: () => ({ dir: join(dir, 'console'), ready: Promise.resolve() }),
}

await runProcess({
  commands: PACKAGED,
  async loadFile(choice) {
    const { loadOwnConfig } = await import('./own-config.ts')
    return await loadOwnConfig(process.cwd(), choice)
  },
  loadHome: () => Promise.resolve(home),
})
