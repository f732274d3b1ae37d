// `npm start`. It imports next to nothing, so that what all the rest compiles to can be kept in the
// data folder: 0.4 s of a start went into taking the types out of its sources, and 0.1 s does now.

import { existsSync } from 'node:fs'
import { enableCompileCache } from 'node:module'
import { join, resolve } from 'node:path'
import { parseOptions } from './options.ts'

const HOME = resolve(import.meta.dirname, '..')
const parsed = parseOptions(process.argv.slice(2), process.cwd(), HOME)
// Not one that is still to be made: it is its owner's alone, which the cache would not see to.
if (parsed.kind === 'options' && existsSync(parsed.options.dataDir)) {
  enableCompileCache(join(parsed.options.dataDir, 'cache/compiled'))
}
const { main } = await import('./command.ts')
process.exitCode = await main(parsed, HOME)
