// `npm start`. It imports next to nothing, so that what all the rest compiles to can be kept in the
// data folder: 0.4 s of a start went into taking the types out of its sources, and 0.1 s does now.

import { existsSync, statSync } from 'node:fs'
import { enableCompileCache } from 'node:module'
import { join, resolve } from 'node:path'
import { isOwnersAlone } from './data-folder.ts'
import { parseOptions } from './options.ts'

// All that is written, by our children too, is for its owner alone.
process.umask(0o077)

const HOME = resolve(import.meta.dirname, '..')
const parsed = parseOptions(process.argv.slice(2), process.cwd(), HOME)
if (parsed.kind === 'options') {
  const { dataDir } = parsed.options
  // Where others may write could stand compiled code of theirs. Any other folder is made, closed or
  // refused later, and until then nothing may be put there.
  if (existsSync(dataDir) && isOwnersAlone(statSync(dataDir))) {
    enableCompileCache(join(dataDir, 'cache/compiled'))
  }
}
const { main } = await import('./command.ts')
process.exitCode = await main(parsed, HOME)
